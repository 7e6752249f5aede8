"""Models that Hugging Face saved: their configuration, and their tensors one by one."""
