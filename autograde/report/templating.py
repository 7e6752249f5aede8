"""The folder of the HTML templates, and jinja2 to render them: every value is escaped."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, **values: Any) -> str:
    """The HTML of a template in TEMPLATES. Raises UndefinedError for a missing value."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    loader = FileSystemLoader(TEMPLATES)
    return Environment(autoescape=True, undefined=StrictUndefined, loader=loader)
