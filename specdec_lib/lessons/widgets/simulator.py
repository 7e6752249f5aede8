"""One simulator, two renderings: an anywidget where a kernel runs, elsewhere a sandboxed frame.

Both show the same ES module (`NAME.js`) with the same state, so an exported page works too.
"""

from __future__ import annotations

import copy
import html
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from specdec_lib.lessons.widgets.parts.bundle import bundle
from specdec_lib.lessons.widgets.parts.fields import Field

HERE = Path(__file__).parent
PALETTE: dict[str, dict[str, str]] = json.loads(
    (HERE.parent / "common" / "palette.json").read_text(encoding="utf-8")
)

LIVE = "application/vnd.jupyter.widget-view+json"


@cache
def module_source(name: str) -> str:
    """The complete ES module of simulator `name`, with what it imports, and no import line left."""
    return bundle(HERE / f"{name}.js")


@cache
def style_sheet() -> str:
    """The style sheet of all simulators: the palette as CSS variables, then the shared rules."""
    light, dark = (
        " ".join(f"--sd-{role}: {colours[theme]};" for role, colours in PALETTE.items())
        for theme in ("light", "dark")
    )
    return (
        f".sd-sim {{ {light} }}\n"
        f"[data-jp-theme-light='false'] .sd-sim {{ {dark} }}\n"
        f"@media (prefers-color-scheme: dark) {{ html.sd-page .sd-sim {{ {dark} }} }}\n"
    ) + (HERE / "parts" / "shared.css").read_text(encoding="utf-8")


# Stands in for the widget's model inside the frame: the same four methods, no kernel.
_FRAME_MODEL = """
const listeners = {};
const values = __VALUES__;
const model = {
  get: (name) => values[name],
  set(name, value) {
    values[name] = value;
    (listeners[`change:${name}`] ?? []).forEach((tell) => tell());
  },
  on(event, tell) { (listeners[event] ??= []).push(tell); },
  off(event, tell) { listeners[event] = (listeners[event] ?? []).filter((old) => old !== tell); },
  save_changes() {},
};
render({ model, el: document.body });
const height = () => Math.ceil(document.body.getBoundingClientRect().height);
const tellHeight = () => parent.postMessage({ specdecHeight: height() }, "*");
new ResizeObserver(tellHeight).observe(document.body);
tellHeight();
"""

_FRAME_PAGE = """<!DOCTYPE html><html lang="en" class="sd-page"><head><meta charset="utf-8">
<title>__TITLE__</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<style>__STYLE__</style></head><body><noscript>This simulator needs JavaScript.</noscript>
<script type="module">__SCRIPT__</script></body></html>"""

# What is left if a frame is dropped.
_DROPPED = "Run this cell to see the simulator."
# Hides what stands in for frames where no script runs. Sets a frame's height to what it reports;
# one that cannot report scrolls at its first height.
_FIT_HEIGHT = """<script>
for (const still of document.querySelectorAll(".specdec-still")) still.hidden = true;
addEventListener("message", (event) => {
for (const frame of document.querySelectorAll("iframe.specdec-simulator")) {
const height = event.data && event.data.specdecHeight;
const fits = frame.contentWindow === event.source && height > 0 && height < 5000;
if (fits) frame.style.height = height + "px"; } });</script>"""


class Simulator:
    """A simulator with its state. Put it last in a cell to show it; `state` follows the sliders.

    `name` is the module's file name without `.js`; `fields` checks each part of the state; `reset`
    is the part that the reset button restores; `height` is the frame's first height in pixels.
    `still` gives HTML for a state, which stands in for the frame where no script runs.
    """

    def __init__(
        self,
        name: str,
        title: str,
        fields: Mapping[str, Field],
        state: Mapping[str, Any],
        reset: Mapping[str, Any],
        height: int,
        still: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> None:
        self.name, self.title, self.height = name, title, height
        self._fields, self._still = dict(fields), still
        self._state: dict[str, Any] = {}
        self._widget: Any = None
        self._state = self._checked(state)
        self._reset = self._checked(reset)

    def _checked(self, part: Mapping[str, Any]) -> dict[str, Any]:
        unknown = set(part) - set(self._fields)
        if unknown:
            names, known = ", ".join(sorted(unknown)), ", ".join(self._fields)
            raise ValueError(f"{self.title} has no {names}: it has {known}")
        return {name: self._fields[name](name, value) for name, value in part.items()}

    @property
    def state(self) -> dict[str, Any]:
        """The state as the sliders stand (a copy). Weights are as set, not yet normalised."""
        return copy.deepcopy(self._widget.state if self._widget is not None else self._state)

    def update(self, **part: Any) -> None:
        """Move sliders from Python, on every view. ValueError as when the simulator is made."""
        new = {**self.state, **self._checked(part)}
        self._state = new
        if self._widget is not None:
            self._widget.state = new

    @property
    def module(self) -> str:
        """The ES module that both renderings run."""
        return module_source(self.name)

    @property
    def widget(self) -> Any:
        """The live widget, made when first asked for. ImportError without anywidget."""
        if self._widget is None:
            import anywidget
            import traitlets

            traits = {key: traitlets.Dict().tag(sync=True) for key in ("state", "reset")}
            looks = {"_esm": self.module, "_css": style_sheet()}
            kind = type(self.name.title(), (anywidget.AnyWidget,), {**looks, **traits})
            self._widget = kind(state=self.state, reset=copy.deepcopy(self._reset))
        return self._widget

    def page(self) -> str:
        """A complete HTML page with the simulator in its present state; it loads nothing else."""
        # "<" is escaped so that no value can close the script element.
        values = json.dumps({"state": self.state, "reset": self._reset}).replace("<", "\\u003c")
        parts = {
            "__TITLE__": html.escape(self.title),
            "__STYLE__": style_sheet(),
            "__SCRIPT__": self.module + _FRAME_MODEL.replace("__VALUES__", values),
        }
        page = _FRAME_PAGE
        for mark, text in parts.items():
            page = page.replace(mark, text)
        return page

    def frame(self) -> str:
        """The page as a sandboxed `<iframe srcdoc>` that takes the height of its content.

        JupyterLab drops it from a notebook that is not trusted, and leaves the words inside it.
        """
        style = f"display:block;width:100%;height:{self.height}px;border:0"
        still = f'<div class="specdec-still">{self._still(self.state)}</div>' if self._still else ""
        return (
            f'{still}<iframe class="specdec-simulator" title="{html.escape(self.title)}" '
            f'sandbox="allow-scripts" style="{style}" '
            f'srcdoc="{html.escape(self.page())}">{_DROPPED}</iframe>\n{_FIT_HEIGHT}'
        )

    def __repr__(self) -> str:
        return f"{self.title} (interactive): {self.state}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self.frame()}
        with suppress(ImportError):  # without anywidget the frame is all there is
            model = self.widget.model_id
            bundle[LIVE] = {"version_major": 2, "version_minor": 0, "model_id": model}
        return bundle
