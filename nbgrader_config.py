"""The nbgrader course. Read by the nbgrader commands, by formgrader and by the builder.

Run the commands from this folder, or with --course-dir. A class lives in course/, or in the
folder that $SPECDEC_COURSE names. Settings of a class stand in a file of the same name in its
folder, which is read last.
"""

import sys
from pathlib import Path

# nbgrader reads this file from wherever it runs, and the grader stands beside it.
ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from autograde.course import set_root  # noqa: E402

set_root(ROOT)

from autograde.nbgrader import config  # noqa: E402

config.configure(get_config(), load_subconfig)  # noqa: F821  traitlets puts both here
