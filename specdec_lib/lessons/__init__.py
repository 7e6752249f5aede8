"""What stands beside the chapters: visible checks, hints, predictions, figures and simulators."""

from specdec_lib.notebook import tell_long_cells

tell_long_cells()
