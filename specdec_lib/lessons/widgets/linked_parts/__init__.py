"""The parts of the linked picture of chapters 02 to 04."""
