"""Four kinds of text as prompts, made of the held-out text: what is easy to draft depends on it.

`code` and `prose` are pieces of sources and of documentation. `copy and edit` is a piece of code,
and then its beginning once more with one name changed: what follows can be copied. `lists` is the
beginning of a list of a source's names, one a line.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from types import MappingProxyType

from specdec_lib.assets import held_out_documents, tokenizer
from specdec_lib.measure.prompts import prompts

LENGTH = 32  # tokens of a prompt of code or prose
SOURCE, BEGUN = 48, 12  # tokens that are to be copied, and those of the copy that are there already
NAMES = 6  # names that a list begins with
_NAME = re.compile(r"[A-Za-z_]\w{3,}")


def copies(count: int) -> list[list[int]]:
    """`count` pieces of code, each with its beginning once more, in which one name is changed."""
    words = tokenizer()
    ends = words.encode("\n\n").ids

    def copied(source: list[int]) -> list[int]:
        edited = _NAME.sub(r"new_\g<0>", words.decode(source[:BEGUN]), count=1)
        return [*source, *ends, *words.encode(edited).ids]

    return [copied(source) for source in prompts(count, SOURCE, ".py")]


def lists(count: int) -> list[list[int]]:
    """`count` beginnings of lists: names of a source in their order, quoted, one a line."""
    chosen = list(islice(_lists(), count))
    if len(chosen) < count:
        raise ValueError(f"the held-out text has {len(chosen)} lists, not {count}")
    return chosen


def _lists() -> Iterator[list[int]]:
    """Lists of NAMES names each, the first of every source, then the second, and so on."""
    words = tokenizer()
    sources = [list(dict.fromkeys(_NAME.findall(each.text))) for each in held_out_documents()]
    for start in range(0, max(map(len, sources)), NAMES):
        for names in sources:
            if len(names) >= start + NAMES:
                lines = "".join(f'    "{name}",\n' for name in names[start : start + NAMES])
                yield words.encode(f"NAMES = [\n{lines}").ids


KINDS: Mapping[str, Callable[[int], list[list[int]]]] = MappingProxyType({
    "code": partial(prompts, length=LENGTH, ending=".py"),
    "prose": partial(prompts, length=LENGTH, ending=".txt"),
    "copy and edit": copies,
    "lists": lists,
})  # fmt: skip
