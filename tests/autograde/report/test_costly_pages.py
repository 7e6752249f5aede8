"""What would keep the converter busy for minutes is shown as it was written."""

from autograde.report import offline


def test_only_python_is_coloured_and_no_long_run_of_blanks():
    """pygments has hundreds of languages, and a student's text chooses among them."""
    python = offline.markdown2html({}, "```python\nif x:\n```")
    assert '<span class="k">if</span>' in python
    for name in ("html", "perl", "mermaid"):
        assert "<span" not in offline.markdown2html({}, f"```{name}\nif x: # <a>\n```")
    assert '<span class="nt">' not in offline.python_html("%%html\n<a>")  # the name of a tag
    assert '<span class="k"' not in offline.python_html("def f():" + "\n" * 600 + "    pass")


def test_a_formula_that_is_too_long_stays_as_it_was_written():
    """MathML is up to a hundred times as long."""
    assert "<math" in offline.mathml("x" * 999)
    assert offline.mathml("x" * 1001) == f"<code>{'x' * 1001}</code>"
