"""Learning management systems: read submissions from their zips, write marks to their tables."""
