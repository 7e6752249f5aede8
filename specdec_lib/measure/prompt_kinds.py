"""Four kinds of held-out text as prompts: acceptance depends on the kind of text.

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

SOURCE_TOKENS = 48  # that are to be copied
COPIED_TOKENS = 12  # of the copy, which the prompt has already
_LENGTH = 32  # tokens of a prompt of code or prose
_NAMES = 6  # that a list begins with
_NAME = re.compile(r"[A-Za-z_]\w{3,}")


def copy_and_edit_prompts(count: int) -> list[list[int]]:
    """`count` pieces of code, each with its beginning once more, in which one name is changed."""
    words = tokenizer()
    separator = words.encode("\n\n").ids

    def with_edited_copy(source: list[int]) -> list[int]:
        beginning = words.decode(source[:COPIED_TOKENS])
        edited = _NAME.sub(r"new_\g<0>", beginning, count=1)
        return [*source, *separator, *words.encode(edited).ids]

    return [with_edited_copy(source) for source in prompts(count, SOURCE_TOKENS, ".py")]


def list_prompts(count: int) -> list[list[int]]:
    """`count` beginnings of lists: names of a source in their order, quoted, one a line."""
    chosen = list(islice(_all_lists(), count))
    if len(chosen) < count:
        raise ValueError(f"the held-out text has {len(chosen)} lists, not {count}")
    return chosen


def _all_lists() -> Iterator[list[int]]:
    """Lists of _NAMES names each, the first of every source, then the second, and so on."""
    words = tokenizer()
    sources = [
        list(dict.fromkeys(_NAME.findall(document.text))) for document in held_out_documents()
    ]
    for start in range(0, max(map(len, sources)), _NAMES):
        for names in sources:
            if len(names) >= start + _NAMES:
                lines = "".join(f'    "{name}",\n' for name in names[start : start + _NAMES])
                yield words.encode(f"NAMES = [\n{lines}").ids


PROMPT_KINDS: Mapping[str, Callable[[int], list[list[int]]]] = MappingProxyType({
    "code": partial(prompts, length=_LENGTH, ending=".py"),
    "prose": partial(prompts, length=_LENGTH, ending=".txt"),
    "copy and edit": copy_and_edit_prompts,
    "lists": list_prompts,
})  # fmt: skip
