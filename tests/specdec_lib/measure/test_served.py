"""The recorded passes of chapter 06's service: what is measured, and what is written."""

import json

from specdec_lib.measure import served
from specdec_lib.models.pairs import load_pair


def counted(tasks, seconds, most):
    """Stands in for a clock: a pass takes as many ms as it has tokens, a draft step half a one."""
    for task in tasks.values():
        task()
    ms = {key: key[0] * (0.5 if key[1] == "draft" else key[1]) for key in tasks}
    return {key: [time / 1000] * 3 for key, time in ms.items()}


def test_passes_are_by_batch_and_new_tokens():
    """The tasks run: a cache is filled, and each pass leaves it as it was."""
    found = served.of_context(load_pair(), 16, (1, 3), (1, 2), counted)
    assert found == {"target": [[1.0, 2.0], [3.0, 6.0]], "draft": [0.5, 1.5]}


def test_the_command_writes_both_contexts_and_where_they_are_from(tmp_path, monkeypatch):
    monkeypatch.setattr(served, "of_context", lambda pair, context: {"target": [[context]]})
    monkeypatch.setattr(served, "load_pair", lambda **kind: load_pair())
    assert served.main(["--out", str(tmp_path / "passes.json")]) == 0
    written = json.loads((tmp_path / "passes.json").read_text(encoding="utf-8"))
    assert written["contexts"] == {"64": {"target": [[64]]}, "448": {"target": [[448]]}}
    assert written["made_by"] == served.PROGRAM and written["processor"] and written["threads"]
