"""The nbgrader course. Read by the nbgrader commands, by formgrader and by the builder.

Run the commands from this folder, or with --course-dir. A class lives in course/, or in the
folder that $SPECDEC_COURSE names. Settings of a class stand in a file of the same name in its
folder, which is read last.
"""

import sys
import warnings
from pathlib import Path

from sqlalchemy.exc import SAWarning

# nbgrader reads this file from wherever it runs; what it names below must be importable.
ROOT = str(Path(__file__).resolve().parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from autograde.course import course_dir, library_folders  # noqa: E402
from autograde.nbgrader import config as course  # noqa: E402
from autograde.nbgrader import exchange  # noqa: E402
from autograde.report import offline  # noqa: E402

c = get_config()  # noqa: F821  traitlets puts it here

# ------------------------------------------------------------------------------------- Folders
course.own_commands_first()
course.set_folders(c, course_dir())
# Of our own folders: no stamps, no scratch files. Of students' folders nothing is copied at all
# (plugin.Intake).
c.CourseDirectory.ignore = [".*", "*.py*", "__pycache__"]
exchange.patch_timestamps()  # nbgrader opens anything that is called timestamp.txt
# nbgrader joins the rows of a new submission before it adds them, and SQLAlchemy remarks on each.
warnings.filterwarnings("ignore", "Object of type <Submitted", SAWarning)

# ------------------------------------------------------------------- The release: stubs that say
c.GenerateAssignment.preprocessors = course.RELEASE_PREPROCESSORS

# ------------------------------------------------------------------------------------ Feedback
c.HTMLExporter.sanitize_html = True
# A student's heading called like a grade cell would take its place in formgrader's scripts.
c.HTMLExporter.exclude_anchor_links = True
# A page is written anew each time: nbgrader would keep one from before a later mark.
c.GenerateFeedback.force = True
c.GenerateFeedback.exporter_class = "autograde.report.feedback_page.FeedbackPage"
c.GenerateFeedback.preprocessors = [
    "autograde.nbgrader.plugin.MarksForPage",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
offline.set_formgrader(c)

# --------------------------------------------------------------------------------------- Grading
# Submissions pass intake before nbgrader sees them; our engine stands where a kernel would run.
c.Autograde.exporter_class = "autograde.nbgrader.plugin.Intake"
c.Autograde.post_convert_hook = "autograde.nbgrader.stamps.finish"
c.Autograde.sanitize_preprocessors = []  # the notebook is the release's, with answers in it
c.Autograde.autograde_preprocessors = [
    "autograde.nbgrader.plugin.Grade",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
]

# ------------------------------------------------------------------- Validate, as students have it
for library in library_folders():
    load_subconfig(course.CONFIG_NAME, path=str(library / "jupyter"))  # noqa: F821

# -------------------------------------------------------------------------- A JupyterHub's exchange
c.ExchangeFactory.collect = "autograde.nbgrader.exchange.Collect"

# --------------------------------------------------------------------------- A class's own settings
# The next `git pull` may change this file; that of a class, in its own folder, is left alone.
load_subconfig(course.CONFIG_NAME, path=str(course_dir()))  # noqa: F821  traitlets puts it here
