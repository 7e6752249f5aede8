#!/bin/sh
# nbconvert 7.17.2: HTMLExporter(sanitize_html=True), meant for notebooks of others, doesn't only clean
# what their authors wrote as HTML. It cleans what nbconvert itself makes of their Markdown, with bleach's
# short list of permitted tags, to which paragraphs and headings don't belong. So every paragraph and
# heading is shown with its tags as text, and a table loses its head row, whose cells stand before the
# table as text. jupyter/nbconvert 2016 asks for advice and mentions paragraphs and headings; the
# option's documentation doesn't. A feedback page for students made with it can't be read.
#
# Seen on 2026-11-29: `# Head`, `A *word*.` and a table of two columns give "&lt;h1 ...", "&lt;p&gt;A
# <em>word</em>.&lt;/p&gt;" and "&lt;th&gt;a&lt;/th&gt;", and all three as tags without the option.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet nbconvert==7.17.2
"$folder/venv/bin/python" - <<'P'
from nbconvert import HTMLExporter
from nbformat.v4 import new_markdown_cell, new_notebook

TEXT = "# Head\n\nA *word*.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
AS_TEXT = ("&lt;h1", "&lt;p&gt;A <em>word</em>.&lt;/p&gt;", "&lt;th&gt;a&lt;/th&gt;")
AS_TAGS = ("<h1", "<p>A <em>word</em>.</p>", "<th>a</th>")
notebook = new_notebook(cells=[new_markdown_cell(TEXT)])
found = {}
for clean in (False, True):
    page, _ = HTMLExporter(sanitize_html=clean).from_notebook_node(notebook)
    body = page[page.index("<body"):]
    found[clean] = [piece in body for piece in AS_TEXT], [piece in body for piece in AS_TAGS]
    start = body.index("Head")
    print(f"sanitize_html={clean}:", " ".join(body[start - 20 : start + 330].split()))
assert found == {False: ([False] * 3, [True] * 3), True: ([True] * 3, [False] * 3)}, "it has changed"
P
echo "nbconvert 7.17.2 behaves as described"
