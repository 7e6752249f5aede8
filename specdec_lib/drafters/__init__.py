"""Where draft tokens come from, one file each."""
