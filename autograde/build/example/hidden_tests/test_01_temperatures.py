"""Hidden tests of chapter 01; its known bugs stand in the table beside."""

from temperatures_lib.checking import expect

from autograde.hidden.exercise import Exercise

celsius = Exercise("celsius")


def above_freezing(rng):
    yield (32.0,)
    for _ in range(4):
        yield (float(rng.integers(33, 213)),)


def below_freezing(rng):
    for _ in range(4):
        yield (float(rng.integers(-40, 32)),)


@celsius.group("from freezing to boiling", cases=above_freezing)
def test_above(student, solution, args):
    hint = "Water freezes at 32 degrees Fahrenheit."
    expect(student.celsius, *args, gives=solution.celsius(*args), hint=hint)


@celsius.group("below freezing it is negative", cases=below_freezing)
def test_below(student, solution, args):
    expect(student.celsius, *args, gives=solution.celsius(*args))
