"""What a submission of filling.toml costs the grader's process."""

import re
import time
from contextlib import suppress
from pathlib import Path

from attacks.protocol import frame_writer
from data_files import table

from autograde.grading import grade
from autograde.hidden.material import material_of
from autograde.intake import bounds
from autograde.intake.submission import release_of
from autograde.tools.samples import fill_answers

FILLING = table("attacks/filling.toml")
MEGABYTES, SECONDS = 160, 4  # that a submission may take here, to be quick


def attacked(name: str) -> tuple[str, object, list[str]]:
    """The chapter of an attack, the notebook with it, and the exercises that it answers."""
    row = FILLING[name]
    chapter, code = row["chapter"], row.get("code") or frame_writer(row["body"])
    names = [row["function"]] if "function" in row else list(material_of(chapter).parameters)
    answers = {each: code.replace("NAME", each) for each in names}
    return chapter, fill_answers(release_of(chapter), material_of(chapter).answers | answers), names


def most_megabytes(status: str = "") -> float:
    """The most memory that a process has had since that was last reset; ours, or by its status."""
    status = status or Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1000


def cost_of(name: str) -> tuple[float, float, bool]:
    """Megabytes, processor seconds, whether it got no points. Changes this process's limits."""
    chapter, notebook, names = attacked(name)
    grade.grade_now(fill_answers(release_of(chapter), material_of(chapter).answers), chapter)
    bounds.EXTRA_MEMORY_BYTES, bounds.CPU_SECONDS = MEGABYTES * 2**20, SECONDS
    Path("/proc/self/clear_refs").write_text("5")
    before, start, no_points = most_megabytes(), time.process_time(), True
    with suppress(bounds.TooCostly):
        result = grade.grade_now(notebook, chapter)
        no_points = not any(result.exercises[each].score for each in names)
    return most_megabytes() - before, time.process_time() - start, no_points
