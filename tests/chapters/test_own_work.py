"""A function of the library that answers an exercise is no answer: in the worker it raises."""

import importlib
from operator import attrgetter
from pathlib import Path

import pytest
from classes.chapter_cases import CHAPTERS
from classes.sessions import call, session

from autograde.chapters.own_work import OWN_WORK
from autograde.sandbox import isolation, library
from autograde.sandbox.isolation import Isolation
from autograde.sandbox.library import split_name
from autograde.sandbox.session import NotDefined, StudentError
from autograde.sandbox.workers import Limits
from autograde.tools.proof import grade_with
from specdec_lib import theory

NAME = "specdec_lib.theory.expected_tokens"


@pytest.mark.parametrize(
    "how",
    [
        "from specdec_lib.theory import expected_tokens as f",
        "import specdec_lib.theory as t\nf = t.expected_tokens",
    ],
)
def test_a_blocked_function_says_that_the_work_is_to_be_ones_own(how: str):
    message = f"{NAME} answers this exercise; .* your own work"
    blocked = session(how, limits=Limits(blocklist=(NAME,)))
    with blocked as s, pytest.raises(StudentError, match=message):
        call(s, "f", (0.5, 2))


def test_what_is_not_blocked_can_be_used():
    code = "from specdec_lib.theory import walltime_speedup as f"
    with session(code, limits=Limits(blocklist=("specdec_lib.exact.distance",))) as s:
        assert call(s, "f", (0.0, 0.0, 1)).value == 1.0


@pytest.mark.parametrize("name", ["specdec_lib.nothing.at_all", "specdec_lib.theory.at_all"])
def test_a_name_of_nothing_is_refused(name: str):
    with pytest.raises(LookupError, match="the library has no"):
        library.without((name,))


# Ways around an import: each sets f to what a module of the library holds, wherever it lies.
WAYS_AROUND = {
    "the file itself": """
import importlib.util, specdec_lib, os
path = os.path.dirname(specdec_lib.__file__) + "/theory.py"
spec = importlib.util.spec_from_file_location("mine", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
f = module.expected_tokens
""",
    "no hooks": """
import sys
sys.meta_path[:] = [each for each in sys.meta_path if "PathFinder" in str(each)]
for name in [name for name in sys.modules if name.startswith("specdec_lib")]:
    del sys.modules[name]
from specdec_lib.theory import expected_tokens as f
""",
    "the text": """
import specdec_lib, os
text = open(os.path.dirname(specdec_lib.__file__) + "/theory.py").read()
exec(text)
f = expected_tokens
""",
    "the compiled file": """
import glob, importlib.machinery, os, specdec_lib
for path in glob.glob(os.path.dirname(specdec_lib.__file__) + "/__pycache__/theory.*.pyc"):
    f = importlib.machinery.SourcelessFileLoader("mine", path).load_module().expected_tokens
""",
    "another copy on the disk": """
import os, sys
def f(alpha, k):
    found = []
    for place in [*sys.path, "/", "ORIGINAL"]:
        for folder, _, files in os.walk(place):
            found += [folder + "/" + each for each in files if each == "theory.py"]
    texts = [open(each).read() for each in found if "specdec_lib" in each]
    assert texts and "ORIGINAL/theory.py" not in found
    raise RuntimeError("".join(text for text in texts if "your own work" not in text) or
                       "specdec_lib.theory.expected_tokens answers this exercise; your own work")
""".replace("ORIGINAL", str(Path(theory.__file__).parent)),
}


@pytest.mark.parametrize("way", isolation.ways())
@pytest.mark.parametrize("how", WAYS_AROUND)
def test_a_blocked_function_is_not_there(how: str, way: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(isolation, "chosen", lambda: Isolation(way))
    refused = pytest.raises((StudentError, NotDefined))
    with session(WAYS_AROUND[how], limits=Limits(blocklist=(NAME,))) as s, refused as caught:
        call(s, "f", (0.5, 2))
    assert "your own work" in str(caught.value) or how == "the compiled file"


def test_without_isolation_an_import_finds_the_same_copy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(isolation, "chosen", lambda: Isolation(isolation.NONE))
    code = "from specdec_lib.theory import expected_tokens as f"
    with session(code, limits=Limits(blocklist=(NAME,))) as s, pytest.raises(StudentError):
        call(s, "f", (0.5, 2))


def test_a_helper_module_may_have_the_name_of_one_of_the_graders():
    names = ("cells", "wire", "worker", "remote", "kernel", "sandbox")
    write = "\n".join(f"open('{name}.py', 'w').write('mine = 1')" for name in names)
    imports = "import sys; sys.path.insert(0, '')\nimport " + ", ".join(names)
    with session(write, imports, f"def f(): return [m.mine for m in ({', '.join(names)})]") as s:
        assert call(s, "f", ()).value == [1] * len(names)


@pytest.mark.parametrize("name", OWN_WORK)
def test_every_blocked_name_is_a_function_of_the_library(name: str):
    module, function = split_name(name)
    found = attrgetter(function)(importlib.import_module(module))
    assert callable(found) or isinstance(found, property)


def test_every_chapter_that_blocks_something_is_one():
    numbers = {chapter[:2] for chapter in CHAPTERS}
    assert {number for row in OWN_WORK.values() for number in row.split()} <= numbers


def test_methods_and_properties_are_blocked_too():
    names = (
        "specdec_lib.models.cache.Tree.of",
        "specdec_lib.lessons.common.recorded.Request.alpha",
    )
    code = (
        "from specdec_lib.lessons.common.recorded import Request\n"
        "def f():\n    from specdec_lib.models.cache import Tree\n    return Tree.of([0])\n"
        "def g():\n    return Request(2, [], []).k, Request(2, [], []).alpha\n"
    )
    limits = Limits(blocklist=names, preload=(("torch", ()),))
    for function, name in zip("fg", names, strict=True):
        with session(code, limits=limits) as s, pytest.raises(StudentError, match=f"{name} answ"):
            call(s, function, ())


# Answers that ask the library: chapter, function, and its body, with imports that go above it.
BORROWED = [
    (
        "00_bottleneck",
        "kv_cache_bytes(n_tokens, layers, heads, width, size, batch_size=1)",
        "from types import SimpleNamespace\n"
        "from specdec_lib.measure.bench.sizes import cache_numbers\n"
        "shape = SimpleNamespace(layers=layers, kv_heads=heads, head_width=width)\n"
        "return cache_numbers(shape, n_tokens) * size * batch_size",
    ),
    (
        "01_draft_then_verify",
        "greedy_prefix(drafted, p)",
        "import torch\n"
        "from specdec_lib.decoding.verify import accepted_prefix\n"
        "same = torch.tensor([[t == int(r.argmax()) for t, r in zip(drafted, p)]])\n"
        "return int(accepted_prefix(same, torch.tensor([len(drafted)])))",
    ),
    (
        "01_draft_then_verify",
        "greedy_speculative_decode(target, draft, prompt, k, max_new_tokens, eos=None)",
        "from specdec_lib.lessons.ch01.models import greedy_decode\n"
        "return greedy_decode(target, prompt, max_new_tokens, eos)",
    ),
    (
        "02_rejection_sampling",
        "acceptance_probability(p, q, token)",
        "from specdec_lib.lessons.ch07.computed import block_decisions\n"
        "return float(block_decisions(p, q, [token])[1][1])",
    ),
    (
        "02_rejection_sampling",
        "speculative_accept(tokens, p, q, r)",
        "from specdec_lib.training.recording import accepted_of\n"
        "pairs = [(p[i, t], q[i, t]) for i, t in enumerate(tokens)]\n"
        "return tokens[: accepted_of([a for a, _ in pairs], [b for _, b in pairs], list(r))]",
    ),
    (
        "02_rejection_sampling",
        "residual_distribution(p, q)",
        "import torch\n"
        "from specdec_lib.decoding.verify import residual\n"
        "rows = (torch.from_numpy(array)[None] for array in (p, q))\n"
        "return residual(*rows)[0].numpy()",
    ),
    ("03_lossless", "total_variation(p, q)", "return lesson._tv(p, q)"),
    (
        "03_lossless",
        "acceptance_rate(p, q)",
        "from specdec_lib.lessons.ch03.computed import mixture\nreturn mixture(p, q, 1)[1]",
    ),
    (
        "03_lossless",
        "is_lossless(rule, p, q)",
        "from specdec_lib.lessons.ch02.computed import exact_law\n"
        "def one(p, q, *rest):\n"
        "    return int(rule(p, q, *map(np.atleast_1d, rest))[0]), True\n"
        "return bool(abs(exact_law(one, p, q, 64).sum(0) - p).max() < 1e-12)",
    ),
    (
        "04_choosing_the_draft",
        "walltime_speedup(a, c, k, v=1.0)",
        "from specdec_lib.lessons.ch04.computed import steep\nreturn steep(a, c, k, 0)",
    ),
    (
        "04_choosing_the_draft",
        "best_k(a, c, k_max)",
        "from specdec_lib.lessons.ch04.computed import best_steep\n"
        "return best_steep(a, c, 0, k_max)",
    ),
    (
        "04_choosing_the_draft",
        "expected_tokens(alpha, k)",
        "from specdec_lib.lessons.ch07.computed import tree_tokens\n"
        "return tree_tokens(range(-1, k - 1), [alpha])",
    ),
    (
        "04_choosing_the_draft",
        "expected_accepted(alpha, k)",
        "from specdec_lib.lessons.ch06.computed import mean_and_variance\n"
        "return mean_and_variance(alpha, k)[0] - 1",
    ),
    (
        "04_choosing_the_draft",
        "distillation_loss(p, q)",
        "from specdec_lib.training.stages import distillation\n"
        "return distillation(p.double().softmax(-1), q.double(), False)[0]",
    ),
    (
        "05_results",
        "alpha_from_blocks(accepted, k)",
        "from specdec_lib.lessons.common.recorded import Request\n"
        "return Request(k, None, np.bincount(accepted, minlength=k + 1)).alpha",
    ),
    (
        "05_results",
        "alpha_from_blocks(accepted, k)",
        "rows = lesson.conditional_rates(accepted, k)\n"
        "return sum(rate * n for rate, n in rows if n) / sum(n for _, n in rows)",
    ),
    (
        "06_simulator",
        "simulate_block(alpha, k, r)",
        "block = recorded.Block([], [alpha] * k, [1] * k, list(r), 0, 0)\n"
        "return recorded.verdict(block)",
    ),
    (
        "07_connections",
        "tree_attention_mask(parents)",
        "from specdec_lib.models.cache import Tree\n"
        "return Tree.of([p + 1 for p in parents]).ancestors[1:, 1:].numpy()",
    ),
    (
        "07_connections",
        "one_hot_accept(draft_token, p, r, u)",
        "import torch\n"
        "from specdec_lib.decoding.verify import verify_block\n"
        "q = torch.zeros(1, 1, len(p), dtype=torch.double)\n"
        "q[0, 0, draft_token] = 1\n"
        "rows = torch.tensor(np.stack([p, p]))[None]\n"
        "numbers = torch.tensor([[draft_token]]), torch.tensor([[r]]), torch.tensor([u])\n"
        "count, token = verify_block(rows, q, *numbers)\n"
        "return (draft_token, True) if count else (int(token), False)",
    ),
]


@pytest.mark.parametrize(("chapter", "call", "body"), BORROWED, ids=[c for _, c, _ in BORROWED])
def test_the_librarys_own_function_earns_nothing_and_says_why(chapter: str, call: str, body: str):
    name, lines = call.partition("(")[0], body.splitlines()
    above = [line for line in lines if line.startswith(("import", "from"))]
    code = "\n".join([*above, f"def {call}:", *(f"    {each}" for each in lines[len(above) :])])
    exercise = grade_with(chapter, **{name: code}).exercises[name]
    assert exercise.score == 0 and "your own work" in exercise.messages[0]
