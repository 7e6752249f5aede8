"""The simulators in Chromium: a page as a reader meets it, and what their modules export."""

import base64
from collections.abc import Callable
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from specdec_lib.lessons.widgets import Simulator

_LOAD = "([url, as]) => import(url).then(module => { window[as] = module; })"
_CALL = (
    "([as, name, given]) => typeof window[as][name] === 'function' "
    "? window[as][name](...given) : window[as][name]"
)
_numbers = count()


def script(name: str) -> str:
    """A function that runs in a page, from the file of this name in scripts/."""
    file = Path(__file__).parent / "scripts" / f"{name}.js"
    return (
        file.read_text(encoding="utf-8").partition("export default ")[2].strip().removesuffix(";")
    )


def leaves_machine(url: str) -> bool:
    """Whether a request for `url` would go to another machine."""
    parts = urlsplit(url)
    inside = parts.scheme in ("data", "blob", "about", "file")
    return not inside and parts.hostname not in ("127.0.0.1", "localhost")


class Reader:
    """A page that keeps its console errors and the requests that it would have sent."""

    def __init__(self, browser, width=900, scheme="light", motion="no-preference"):
        size = {"width": width, "height": 1800}
        self.page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion=motion)
        self.errors, self.requests, self.clock_held = [], [], False
        self.page.on(
            "console",
            lambda line: line.type in ("error", "warning") and self.errors.append(line.text),
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route(
            "**/*", lambda route: (self.requests.append(route.request.url), route.abort())
        )

    def show(self, simulator: Simulator) -> "Reader":
        self.page.set_content(f"<!DOCTYPE html><body style='margin:0'>{simulator.frame()}</body>")
        self.frame = self.page.frame_locator("iframe.specdec-simulator")
        self.frame.locator(".sd-chart svg").first.wait_for()
        return self

    def hold_clock(self) -> None:
        """Let time pass only by `page.clock.run_for`; the page is then no page for another test."""
        self.page.clock.install()
        self.clock_held = True

    def evaluate(self, script: str):
        """The value of JavaScript inside the simulator's frame."""
        return self.page.frames[1].evaluate(script)

    def slider(self, name: str):
        return self.frame.get_by_role("slider", name=name, exact=True)

    def press(self, name: str) -> None:
        """Press the button of that name by keyboard."""
        self.frame.get_by_role("button", name=name, exact=True).press("Enter")

    def texts(self, selector: str) -> list[str]:
        return self.frame.locator(selector).all_text_contents()

    def numbers(self) -> list[str]:
        """What the readouts show."""
        return self.texts(".sd-number")

    def verdict(self, number: int = 0) -> str:
        return self.texts(".sd-verdict")[number]

    def description(self, number: int) -> str:
        return self.frame.locator(".sd-chart svg[role=img]").nth(number).get_attribute("aria-label")


class Visitor:
    """A page of the browser with a file or an address in it, as anybody opens it.

    `with Visitor(browser).visit(path) as visitor:` fails at its end where the page asked another
    machine for something, or wrote an error to the console.
    """

    def __init__(self, browser, **look) -> None:
        self.page = browser.new_page(**look)
        self.errors, self.outside = [], []
        self.page.on("console", lambda line: line.type == "error" and self.errors.append(line.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route(leaves_machine, self._refuse)

    def _refuse(self, route) -> None:
        self.outside.append(route.request.url)
        route.abort()

    def visit(self, place: Path | str) -> "Visitor":
        self.page.goto(place if isinstance(place, str) else place.absolute().as_uri())
        return self

    def __enter__(self) -> "Visitor":
        return self

    def __exit__(self, kind, *_) -> None:
        self.page.close()
        said = f"{self.page.url}: {self.errors}, requests to {self.outside}"
        assert kind or not (self.errors or self.outside), said


def module_caller(page, simulator: Simulator) -> Callable:
    """`call(name, *arguments)` for what the simulator's module exports, loaded into `page`."""
    source = base64.b64encode(simulator.module.encode()).decode()
    url = f"data:text/javascript;base64,{source}"
    place = f"lesson{next(_numbers)}"
    page.evaluate(_LOAD, [url, place])
    return lambda name, *given: page.evaluate(_CALL, [place, name, list(given)])
