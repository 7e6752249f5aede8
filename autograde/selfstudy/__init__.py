"""Mark one's own notebooks: the program that `specdec mark` starts."""
