"""A race: decoders on the same prompts, by turns on one machine, with a clock for each."""
