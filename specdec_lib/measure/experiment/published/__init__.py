"""Published pairs in the experiment of chapter 08: their texts, their rates, their rows."""
