"""Other decoders on our models, to be measured beside ours: llama.cpp, where it is installed."""
