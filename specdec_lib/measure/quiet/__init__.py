"""A quiet run of all that the chapters measure, to be shown beside a disturbed one."""
