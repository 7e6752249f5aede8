"""Figures drawn from a student's function, also while that function is unwritten or wrong."""

import functools
from collections.abc import Callable

import matplotlib.pyplot as plt


def drawn_from(*names: str) -> Callable[[Callable], Callable]:
    """Decorate a figure that calls the student's functions `names`.

    An unwritten function is asked for, and an error of a wrong one is told in one line, so that
    the picture never stops the notebook.
    """

    def decorate(figure: Callable) -> Callable:
        @functools.wraps(figure)
        def draw(*args, **kwargs) -> None:
            try:
                figure(*args, **kwargs)
            except NotImplementedError:
                print(f"This figure draws your own {' and '.join(names)}. Write it first.")
            except Exception as error:  # whatever a half-written function does
                print(f"Your {' and '.join(names)} cannot be drawn yet: {error!r}")
            finally:
                plt.close("all")  # else the notebook would show a picture that is half made

        return draw

    return decorate
