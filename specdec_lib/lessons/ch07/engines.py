"""Who ships what, from field.toml: the engines of a kind, as the chapter shows them."""

from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.drawing.series import show_table

_FIELD = read_tables(__package__, "field.toml")


def show_engines(kind: str, caption: str) -> None:
    """Show each engine of `kind`, "server" or "home": its drafters, and the rule that it uses."""
    named = [f"{each['name']} {each['release']}, {each['date']}" for each in _FIELD[kind]]
    drafts = [f"{', '.join(each['drafts'])}; {each['shape']}" for each in _FIELD[kind]]
    judges = [each["judges"] for each in _FIELD[kind]]
    show_table({"engine": named, "drafts with": drafts, "judges a token by": judges}, caption)


def show_names(caption: str) -> None:
    """Show what the names of methods mean that do not say so themselves."""
    rows = [(each["name"], each["what"]) for each in _FIELD["method"] if "what" in each]
    show_table(rows, caption, ("method", "what it is"))
