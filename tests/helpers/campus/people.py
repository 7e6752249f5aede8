"""People of a hub in a browser: they log in, and press nbgrader's buttons."""

import itertools
from types import SimpleNamespace

from pages.formgrader import Formgrader
from pages.jupyter_lab import Lab


class Person(Lab):
    """A person's JupyterLab on the hub at `hub`."""

    def __init__(self, browser, hub: str, name: str, password: str) -> None:
        server = SimpleNamespace(url=f"{hub}/user/{name}", workspaces=itertools.count())
        super().__init__(browser, server)
        self.hub, self.name, self.password = hub, name, password

    def log_in(self) -> None:
        """Log in, and wait for JupyterLab."""
        self.page.goto(self.hub)
        self.page.locator("#username_input").fill(self.name)
        self.page.locator("#password_input").fill(self.password)
        self.page.locator("#login_submit").click()
        self.page.wait_for_url(f"**/user/{self.name}/lab**")
        self.page.get_by_role("menuitem", name="Nbgrader", exact=True).wait_for()

    def tools(self) -> list[str]:
        """What the menu Nbgrader offers."""
        self.page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
        offered = self.page.locator(".lm-Menu-content .lm-Menu-itemLabel").all_inner_texts()
        self.page.keyboard.press("Escape")
        return [name for name in offered if name]


class Student(Person):
    """A student, with the list of assignments."""

    def list_assignments(self) -> None:
        """Open JupyterLab anew with the list."""
        self.page.goto(f"{self.server.url}/lab/workspaces/{next(self.server.workspaces)}")
        self.choose("Nbgrader", "Assignment List")
        self.button("Fetch").or_(self.button("Submit")).first.wait_for()

    def button(self, name: str):
        return self.page.get_by_role("button", name=name, exact=True)

    def press_button(self, name: str, then: str) -> None:
        """Press a button of the list, and wait until the list says `then`."""
        self.button(name).first.click()
        self.page.get_by_text(then, exact=True).filter(visible=True).first.wait_for()


class Instructor(Person, Formgrader):
    """Who marks, with formgrader in a tab of its own."""

    def start(self) -> None:
        self.page.goto(f"{self.hub}/hub/user-redirect/formgrader")
        self.frame = self.page.main_frame
        self.frame.get_by_role("link", name="Manual Grading").wait_for()
