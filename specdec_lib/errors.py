"""The errors that are told in a line, without a traceback. Any other error is a bug."""


class UsageError(ValueError):
    """Something that the caller can mend; the message says what is wrong and what to do."""
