"""Hidden tests of chapter 01."""

from autograde.hidden.exercise import Exercise

celsius = Exercise("celsius")


@celsius.group("from freezing to boiling", hint="Water freezes at 32 degrees Fahrenheit.")
def above(rng):
    yield 32.0
    for _ in range(4):
        yield float(rng.integers(33, 213))


@celsius.group("below freezing it is negative")
def below(rng):
    for _ in range(4):
        yield float(rng.integers(-40, 32))


celsius.bug(
    ("return (f - 32) * 5 / 9", "return abs(f - 32) * 5 / 9"),
    think="a temperature is never negative.",
    because="below 32 degrees Fahrenheit it freezes, and Celsius counts down from 0.",
)
