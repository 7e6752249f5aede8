"""One simulator, two renderings: an anywidget where a kernel runs, elsewhere a sandboxed frame.

Both show the same ES module with the same state, so an exported page works too.
"""

from __future__ import annotations

import copy
import html
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from specdec_lib.lessons.drawing.style import css_variables, in_both_themes

WIDGETS = Path(__file__).parent
_PARTS = ("elements", "formulas", "charts", "controls", "stage", "blocks", "frame")
_LIVE = "application/vnd.jupyter.widget-view+json"
_PAGE = (WIDGETS / "frame.html").read_text(encoding="utf-8").strip()


@cache
def module_source(name: str) -> str:
    """The ES module of simulator `name`: the shared parts, its own, and its file, in one text.

    Files import from each other for the linter; in one module no name is imported, and no two
    files may define the same one.
    """
    parts = [WIDGETS / "parts" / f"{part}.js" for part in _PARTS]
    files = [*parts, *sorted((WIDGETS / f"{name}_parts").glob("*.js")), WIDGETS / f"{name}.js"]
    lines = "\n".join(file.read_text(encoding="utf-8") for file in files).splitlines()
    return "\n".join(line for line in lines if not line.startswith("import "))


@cache
def simulator_css() -> str:
    """The style sheet of all simulators: the palette as CSS variables, then the shared rules."""
    dark = f"html.sd-page .sd-sim {{ {css_variables('dark')} }}"
    in_frame = f"@media (prefers-color-scheme: dark) {{ {dark} }}"
    rules = (WIDGETS / "parts" / "shared.css").read_text(encoding="utf-8")
    return f"{in_both_themes('.sd-sim')}\n{in_frame}\n{rules}"


class Simulator:
    """A simulator with its state. Put it last in a cell to show it; `state` follows the sliders.

    `name` is the module's file name without `.js`, and `state` is plain data. `data` never
    changes, and the module finds it beside the first state. `height` is the frame's first height
    in pixels.
    """

    def __init__(
        self,
        name: str,
        title: str,
        state: Mapping[str, Any],
        height: int,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        self.name, self.title, self.height = name, title, height
        self._state = dict(state)
        self._start = {**state, **(data or {})}
        self._widget: Any = None

    @property
    def state(self) -> dict[str, Any]:
        """The state as the sliders stand (a copy)."""
        return copy.deepcopy(self._widget.state if self._widget is not None else self._state)

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

            traits = {key: traitlets.Dict().tag(sync=True) for key in ("state", "start")}
            looks = {"_esm": self.module, "_css": simulator_css()}
            kind = type(self.name.title(), (anywidget.AnyWidget,), {**looks, **traits})
            self._widget = kind(state=self.state, start=copy.deepcopy(self._start))
        return self._widget

    def page(self) -> str:
        """A complete HTML page with the simulator in its present state; it loads nothing else."""
        # "<" is escaped so that no value can close the script element.
        values = json.dumps({"state": self.state, "start": self._start}).replace("<", "\\u003c")
        script = f"{self.module}\nconst values = {values};\nshowInFrame(render, values);"
        return _PAGE.format(title=html.escape(self.title), style=simulator_css(), script=script)

    def frame(self) -> str:
        """The page as a sandboxed `<iframe srcdoc>` that takes the height of its content.

        JupyterLab drops it from a notebook that is not trusted, and leaves the words inside it.
        """
        style = f"display:block;width:100%;height:{self.height}px;border:0"
        around = (WIDGETS / "parts" / "around.js").read_text(encoding="utf-8")
        return (
            f'<iframe class="specdec-simulator" title="{html.escape(self.title)}" '
            f'sandbox="allow-scripts" style="{style}" srcdoc="{html.escape(self.page())}">'
            f"Run this cell to see the simulator.</iframe>\n<script>{around}</script>"
        )

    def __repr__(self) -> str:
        return f"{self.title} (interactive): {self.state}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self.frame()}
        with suppress(ImportError):  # without anywidget the frame is all there is
            model = self.widget.model_id
            bundle[_LIVE] = {"version_major": 2, "version_minor": 0, "model_id": model}
        return bundle
