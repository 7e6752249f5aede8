"""nbgrader's own work on every cell, with what is the same for all submissions done once a run."""

import json
from contextlib import suppress
from functools import cache

from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator, ValidationError
from nbgrader.preprocessors import CheckCellMetadata, NbGraderPreprocessor, OverwriteCells

from autograde.nbgrader.connection import source_rows


class RestoreCells(OverwriteCells):
    """nbgrader's OverwriteCells, with the instructor's cells read once a run.

    No cell is ever missing, since intake has put every one in its place.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        place = resources["nbgrader"]
        self.notebook_id, self.assignment_id = place["notebook"], place["assignment"]
        self.gradebook = source_rows(place)
        return NbGraderPreprocessor.preprocess(self, nb, resources)

    def report_change(self, name: str, attr: str, old: object, new: object) -> None:
        """As nbgrader, which also warns of every test's text: intake puts in the release's, whose
        hidden lines are not there yet. Nine lines for each student would bury a real warning.
        """
        if attr != "checksum":
            super().report_change(name, attr, old, new)


class CheckMetadata(CheckCellMetadata):
    """nbgrader's CheckCellMetadata, which reads its schema and checks that, too, at every cell."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        with suppress(ValidationError):
            _validator().validate_nb(nb)
            return nb, resources
        return super().preprocess(nb, resources)  # which logs what is wrong


class KnownMetadata(MetadataValidator):
    """nbgrader's validator, which looks at equal metadata once."""

    def __init__(self) -> None:
        super().__init__()
        self.valid: set[tuple[str, str]] = set()

    def validate_cell(self, cell: NotebookNode) -> None:
        metadata = json.dumps(cell.metadata.get("nbgrader"), sort_keys=True)
        if (cell.cell_type, metadata) not in self.valid:
            super().validate_cell(cell)
            self.valid.add((cell.cell_type, metadata))


@cache
def _validator() -> KnownMetadata:
    return KnownMetadata()
