"""Habits of honest students that look like attacks, and are graded as if they were not there."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Twin:
    """A cell before right answers; `answers` are right ones, written in an unusual way."""

    name: str
    cell: str = "pass"
    answers: dict[str, str] = field(default_factory=dict)


CELLS = {
    "threads": """
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
with ThreadPoolExecutor(4) as pool:
    assert list(pool.map(abs, [-1, -2])) == [1, 2]
with ThreadPool(2) as pool:
    assert pool.map(abs, [-1]) == [1]
threading.Thread(target=print).start()
""",
    "temporary files": """
import os, pathlib, tempfile
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "a.txt").write_text("x")
with tempfile.NamedTemporaryFile("w+") as file:
    file.write("x"); file.flush(); os.fsync(file.fileno())
open("notes.txt", "w").write("mine")
assert open("notes.txt").read() == "mine"
""",
    "data saved and read": """
import json, pickle, numpy as np
np.savez("data.npz", a=np.arange(3)); assert np.load("data.npz")["a"].sum() == 3
pickle.dump([1], open("list.pkl", "wb")); assert pickle.load(open("list.pkl", "rb")) == [1]
json.dump({"a": 1}, open("d.json", "w"))
""",
    "helper module": """
open("helper.py", "w").write("def twice(x): return 2 * x")
import os, sys
sys.path.insert(0, os.getcwd())
import helper
assert helper.twice(2) == 4
""",
    "magics and shell lines": """
%matplotlib inline
%load_ext autoreload
%autoreload 2
!pip install numpy
x = 1
""",
    "cell magic": "%%time\nx = sum(range(10))",
    "deep recursion": """
import sys
sys.setrecursionlimit(20_000)
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
assert depth(8000) == 8000
""",
    "large output": "print('x' * 10**6)\nfor n in range(20_000): print(n)",
    "figure": """
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.plot([1, 2]); axes.set_title("mine")
figure.savefig("figure.png"); plt.show()
""",
    "alarm": """
import signal
def stop(number, frame): raise TimeoutError
signal.signal(signal.SIGALRM, stop); signal.alarm(5); signal.alarm(0)
""",
    "event loop": """
import asyncio
async def one(): return 1
loop = asyncio.new_event_loop()
assert loop.run_until_complete(one()) == 1
loop.close()
""",
    "asyncio.run": "import asyncio\nasync def f(): return 1\nassert asyncio.run(f()) == 1",
    "imports of a large library": "import torch, matplotlib.pyplot as plt",
    "small data base": """
import sqlite3
with sqlite3.connect("x.db") as base:
    base.execute("create table t (a)"); base.execute("insert into t values (1)")
    assert base.execute("select a from t").fetchall() == [(1,)]
""",
    "large array": "import numpy as np\nx = np.ones((4000, 4000)); assert (x @ x[:, 0]).sum() > 0",
    "error in one's own cell": "1 / 0",
    "names of the grader": "student = result = score = passed = 0",
}
ANSWERS = {
    "NumPy in place": {
        "residual_distribution": """def residual_distribution(p, q):
    left = p.copy()
    left -= q
    np.maximum(left, 0, out=left)
    total = left.sum()
    if total == 0:
        return p.copy()
    left /= total
    return left"""
    },
    "NumPy scalars": {
        "acceptance_probability": """def acceptance_probability(p, q, token):
    if p[token] == 0:
        return np.float64(0)
    return np.float64(1.0) if q[token] == 0 else np.minimum(1, p[token] / q[token])"""
    },
    "NumPy integers": {
        "speculative_accept": """def speculative_accept(draft_tokens, p, q, r):
    n = 0
    for i, t in enumerate(draft_tokens):
        if p[i, t] == 0 or r[i] > acceptance_probability(p[i], q[i], t):
            break
        n += 1
    return [np.int64(t) for t in draft_tokens[:n]]"""
    },
    "cache of calls": {
        "acceptance_probability": """import functools
@functools.lru_cache
def _ratio(a, b): return 0.0 if a == 0 else 1.0 if b == 0 else min(1.0, a / b)
def acceptance_probability(p, q, token): return _ratio(float(p[token]), float(q[token]))"""
    },
}
TWINS = [
    *(Twin(name, cell) for name, cell in CELLS.items()),
    *(Twin(name, answers=answers) for name, answers in ANSWERS.items()),
]
