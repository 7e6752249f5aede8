"""The look of the course's figures: the simulators' palette, and words for every picture."""

from __future__ import annotations

import base64
import html
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def read_look(name: str) -> dict[str, Any]:
    """What a JSON file of this folder says of the look."""
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


_PALETTE = read_look("palette.json")

#: Colours by role, safe for colour-blind readers. Colour is never the only signal: see `role`.
ROLES = ("target", "draft", "accepted", "excess", "residual")
_COLOURS = [_PALETTE[name]["light"] for name in ROLES]
TARGET_COLOUR, DRAFT_COLOUR, ACCEPTED_COLOUR, EXCESS_COLOUR, RESIDUAL_COLOUR = _COLOURS
#: Lines and edges that stand behind the data, the area of an interval, and the grid.
GREY, BAND, PALE = "#8a8a94", "#c9c9d1", "#dcdce2"

_DPI = 144


def use_course_style() -> None:
    """Set matplotlib to the course's fonts, colours and constrained layout, for this process."""
    import matplotlib.pyplot as plt

    own = {"grid.color": PALE, "axes.prop_cycle": plt.cycler(color=_COLOURS)}
    plt.rcParams.update(read_look("matplotlib.json") | own)


def role(name: str) -> dict[str, Any]:
    """Keyword arguments for `ax.bar`: the fill, edge, hatch and legend label of a role.

    `name` is target, draft, accepted, excess or residual; KeyError otherwise. Rejected mass has
    stripes and the residual has dots; both are white inside.
    """
    colour, hatch = _PALETTE[name]["light"], _PALETTE[name]["hatch"]
    return {
        "facecolor": "white" if hatch else _tint(colour),
        "edgecolor": colour,
        "hatch": hatch,
        "linewidth": 1.4,
        "label": _PALETTE[name]["label"],
    }


def palette(theme: str) -> dict[str, str]:
    """The colours by role in a theme, "light" or "dark"."""
    return {name: entry[theme] for name, entry in _PALETTE.items()}


def css_variables(theme: str) -> str:
    """The colours by role in a theme, as CSS variables."""
    return " ".join(f"--sd-{name}: {colour};" for name, colour in palette(theme).items())


def in_both_themes(selector: str) -> str:
    """CSS that gives `selector` the colours of each theme."""
    # JupyterLab and the site mark their dark themes each in its own way.
    dark = f"[data-jp-theme-light='false'] {selector}, [data-theme='dark'] {selector}"
    return f"{selector} {{ {css_variables('light')} }} {dark} {{ {css_variables('dark')} }}"


def _tint(colour: str) -> tuple[float, ...]:
    """45% of `colour` on white, as in the simulators."""
    return tuple(1 - 0.45 * (1 - int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))


def show(fig: Figure, alt: str) -> None:
    """Display `fig` as a PNG with the alternative text `alt`, then close it.

    Make `alt` from the figure's data. Outside IPython nothing is shown.
    """
    import matplotlib.pyplot as plt

    page = image(fig, alt)
    plt.close(fig)
    if in_notebook():
        display_page(page, alt)


def display_page(page: str, alt: str) -> None:
    """Display HTML, with the text `alt` where there is none; outside IPython print `alt`."""
    if not in_notebook():
        print(alt)
        return
    from IPython.display import display

    display({"text/html": page, "text/plain": alt}, raw=True)


def image(fig: Figure, alt: str) -> str:
    """`fig` as an `<img>` element that holds its own data, with 1.5 pixels for each one shown."""
    data = io.BytesIO()
    fig.savefig(data, format="png", dpi=_DPI, metadata={"Software": None})
    width = round(fig.get_figwidth() * 96)
    source = base64.b64encode(data.getvalue()).decode("ascii")
    return f'<img alt="{html.escape(alt)}" width="{width}" src="data:image/png;base64,{source}">'


def in_notebook() -> bool:
    """Whether IPython runs this code. Asking does not import it."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None
