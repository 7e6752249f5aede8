"""A long loop tells how far it is, and leaves nothing on the page."""

import nbformat
from nbclient import NotebookClient

CELL = """\
import time
from specdec_lib.progress import progress
for number in progress(range(3), "texts"):
    time.sleep(0.7)
print("end")
"""


def test_a_line_shows_how_far_a_loop_is_and_goes_at_its_end():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    told = []
    client = NotebookClient(notebook, kernel_name="python3")
    with client.setup_kernel():
        keep = client.process_message

        def noted(message, cell, index):
            told.append(message["content"].get("data", {}).get("text/plain", ""))
            return keep(message, cell, index)

        client.process_message = noted
        client.execute_cell(notebook.cells[0], 0)
    assert "texts: 2 of 3 done" in told
    line, said = notebook.cells[0].outputs
    assert line.data["text/plain"] == "" and said.text == "end\n"
