"""A page that notes which scripts of a student run in it, and what it asks for."""

import re

PATIENCE = 60  # seconds for anything that loads
# What acts only when somebody points or clicks at it, is pointed and clicked at. Links run in tasks
# of their own, so this ends after the tasks that it has caused.
POKE = """async () => {
  for (const element of document.querySelectorAll('body *')) {
    const acts = [...element.attributes].some((a) => a.name.startsWith('on'));
    if (acts) for (const kind of ['mouseover', 'focus']) element.dispatchEvent(new Event(kind));
    if (element.protocol === 'javascript:') element.click();
  }
  for (let i = 0; i < 2; i++) await new Promise((done) => setTimeout(done));
}"""


class Watched:
    """A page that notes which scripts of a student run in it, and which addresses it asks for."""

    def __init__(self, browser, **look) -> None:
        self.page = browser.new_page(**look)
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.add_init_script("window.hits = []")
        self.asked: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.route(re.compile(r"^https?://(?!127\.0\.0\.1:(?!9/))"), self._keep_here)
        self.loaded: set[int] = set()

    def _keep_here(self, route) -> None:
        """End a request that would leave, and note whose it is. The page's policy comes before."""
        if found := re.search(r"/hit/(\d+)", route.request.url):
            self.loaded.add(int(found[1]))
        route.abort()

    def visit(self, url: str) -> set[int]:
        """Open a page, wait until it is whole, point and click; the numbers of what ran."""
        self.asked.clear()
        self.loaded.clear()
        answer = self.page.goto(url, wait_until="load")
        assert answer is None or answer.ok, (url, answer.status)
        self.page.wait_for_function("() => !document.body.innerText.includes('Loading, please')")
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate(POKE)
        return self.loaded | set(self.page.evaluate("hits"))
