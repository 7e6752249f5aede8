"""The experiment of chapter 08: the paper's tables on this machine, and what is measured beside."""
