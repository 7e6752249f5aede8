"""`python -m autograde.tools.editor`: bundle the editor again, from npm."""

from autograde.files import write_if_changed
from autograde.tools.editor import BUNDLED, bundled

if __name__ == "__main__":
    changed = write_if_changed(BUNDLED, bundled())
    print(f"{BUNDLED} {'is new' if changed else 'was already the same'}")
