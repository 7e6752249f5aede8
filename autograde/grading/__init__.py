"""From a cleaned submission to its marks: one submission, a class, the cache of results."""
