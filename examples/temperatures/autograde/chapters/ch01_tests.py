"""Hidden tests of chapter 01."""

from autograde.check import Exercise

celsius = Exercise("celsius")


@celsius.group("freezing is 0", hint="Water freezes at 32 degrees Fahrenheit.")
def freezing(rng):
    yield 32.0
    yield 33.0


@celsius.group("a degree is 5/9 of a degree")
def degrees(rng):
    for _ in range(4):
        yield float(rng.integers(100, 300))


celsius.bug(
    "return (f - 32) * 5 / 9",
    "return f - 32.0",
    think="a degree is a degree.",
    because="from freezing to boiling there are 180 degrees of one and 100 of the other.",
)
