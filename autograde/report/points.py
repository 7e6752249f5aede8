"""Points as people read them."""


def points(number: float) -> str:
    """At most two decimals, and none that is a zero: 2, 0.67, 8.87.

    For pages and tables; files that programs read hold every digit.
    """
    return f"{round(float(number), 2):g}"
