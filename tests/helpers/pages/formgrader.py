"""Formgrader in JupyterLab, as the person who marks works with it."""

from classes.submitting import CHAPTER
from pages.jupyter_lab import Lab


class Formgrader(Lab):
    """JupyterLab with formgrader open in it."""

    def start(self) -> None:
        self.page.goto(f"{self.server.url}/lab")
        self.choose("Nbgrader", "Formgrader")
        self.frame = self.page.wait_for_selector("iframe[src*=formgrader]").content_frame()
        self.frame.get_by_role("link", name="Manual Grading").wait_for()

    def follow(self, link: str, leads_to: str) -> None:
        """Press a link of the page, and wait for the page that it leads to."""
        self.frame.get_by_role("link", name=link, exact=True).last.click()
        self.frame.wait_for_url(f"**/formgrader/{leads_to}")

    def open_submission(self, student: str) -> None:
        """Walk from the list of chapters to the submission."""
        self.follow("Manual Grading", "gradebook")
        self.follow(CHAPTER, f"gradebook/{CHAPTER}")
        self.list_submissions()
        self.follow(student, "submissions/**")

    def list_submissions(self) -> None:
        """From a chapter's page on to its submissions, with the students' names."""
        self.follow(CHAPTER, f"gradebook/{CHAPTER}/{CHAPTER}")
        self.row("Submission #1")  # there are rows that the button can change
        self.frame.get_by_role("button", name="Show All Names").click()

    def row(self, link: str) -> list[str]:
        """The texts of the table's row with that link, once it is there."""
        row = self.frame.locator("tr", has=self.frame.get_by_role("link", name=link, exact=True))
        return [text.strip() for text in row.inner_text().split("\t")]

    def points(self) -> dict[str, float]:
        """The points beside the tests of an open submission, once they are all there.

        nbgrader shows an automatic mark as the placeholder of the box for one by hand.
        """
        boxes = "[...document.querySelectorAll('input.score[id^=test_]')]"
        self.frame.wait_for_function(f"{boxes}.length && {boxes}.every(box => box.placeholder)")
        pairs = f"{boxes}.map(box => [box.id.replace('test_', ''), Number(box.placeholder)])"
        return dict(self.frame.evaluate(pairs))

    def mark(self, cell: str, points: str) -> bool:
        """Type the points of a written answer; returns whether they are saved."""
        with self.page.expect_response("**/api/grade/**") as saved:
            box = self.frame.locator(f"input.score#{cell}")
            box.fill(points)
            box.press("Tab")
        return saved.value.ok
