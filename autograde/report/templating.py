"""Render the HTML templates with jinja2: every value is escaped."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).with_name("templates")
_LOADER = FileSystemLoader(TEMPLATES)
_ENVIRONMENT = Environment(autoescape=True, undefined=StrictUndefined, loader=_LOADER)


def render(template: str, **values: Any) -> str:
    """The HTML of a template in TEMPLATES. Raises UndefinedError for a missing value."""
    return _ENVIRONMENT.get_template(template).render(values)
