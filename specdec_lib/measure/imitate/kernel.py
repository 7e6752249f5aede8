"""What a Jupyter kernel runs first (PYTHONSTARTUP): FBGEMM reads no variable and must be told."""

from specdec_lib.measure.imitate.restricted import restrict_fbgemm

restrict_fbgemm()
del restrict_fbgemm  # these names are the notebook's own
