"""The methods of field.toml along the years: who drafts, and in how many steps."""

from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.drawing.axes import chart, legend_below
from specdec_lib.lessons.drawing.style import ACCEPTED_COLOUR, show

# By the first word of a method's kind: the title of its lane. By the filling of a mark: its steps.
_LANES = {"small": "a small model", "target's": "the target", "heads": "heads", "text": "text"}
_STEPS = {"none": "token by token", "full": "all tokens in one step"}


def methods_by_year() -> None:
    """Each method with a `short` name in its lane, at its month; a full mark drafts in one step."""
    ax = chart("Who drafts: first small models, now heads", size=(6.2, 6.0))
    words, marks = [], {}
    for each in (row for row in read_tables(__package__, "field.toml")["method"] if "short" in row):
        lane = each["kind"].split()[0].strip(";")
        fill = "full" if "one step" in each["kind"] else "none"
        year, month = map(int, each["date"].split("-"))
        x = list(_LANES).index(lane) + 0.6 * each.get("beside", 0)
        y = year + (month - 0.5) / 12
        style = {"color": ACCEPTED_COLOUR, "fillstyle": fill, "mew": 2, "label": _STEPS[fill]}
        (marks[fill],) = ax.plot(x, y, "o", **style)
        ax.annotate(each["short"], (x, y), (8, -4), textcoords="offset points", fontsize=10)
        words.append(f"{each['date']} {each['short']}: {_LANES[lane]}, {_STEPS[fill]}")
    ax.set(xlim=(-0.2, len(_LANES) - 0.1), ylim=(2026.9, 2022.6), yticks=range(2023, 2027))
    ax.set_xticks([lane + 0.3 for lane in range(len(_LANES))], _LANES.values())
    legend_below(ax, columns=2, handles=marks.values())
    show(ax.figure, f"Drafters by year: since 2024 mostly heads. {'; '.join(words)}.")
