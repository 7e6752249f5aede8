"""Who ships what, from field.toml: the engines of a kind, as the chapter shows them."""

from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.drawing.series import show_table


def show_engines(kind: str, caption: str) -> None:
    """Show each engine of `kind`, "server" or "home": its drafters, and the rule that it uses."""
    engines = read_tables(__package__, "field.toml")[kind]
    named = [f"{each['name']} {each['release']}, {each['date']}" for each in engines]
    drafts = [f"{', '.join(each['drafts'])}; {each['shape']}" for each in engines]
    judges = [each["judges"] for each in engines]
    show_table({"engine": named, "drafts with": drafts, "judges a token by": judges}, caption)
