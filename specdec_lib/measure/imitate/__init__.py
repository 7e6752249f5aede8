"""A lesser processor than the one that is there: for the bench, and for chapters."""
