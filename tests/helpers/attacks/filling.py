"""Answers that fill the grader's memory or take its time."""

from attacks.protocol import frame_writer
from data_files import table

_ANSWER = (
    "{'warnings': [], 'mutated_args': [], 'shares_memory': False, 'torch_calls': 0, "
    "'host_syncs': [], 'value': None}"
)


def _written(item: str, count: int) -> str:
    """Such an answer with a list of so many items, whatever the worker would have sent."""
    many = f"b'{{\"l\":[' + b'{item},' * {count} + b'0]}}'"
    return frame_writer(f"json.dumps({_ANSWER}).encode().replace(b'null}}', {many} + b'}}')")


# By name: the chapter, the one function or all, and the code.
FILLING = {
    "numbers in frames": ("02_rejection_sampling", "", _written("1", 5_600_000)),
    "empty arrays": ("07_connections", "", _written('{"a":["bool",[0],""]}', 20_000)),
} | {
    name: (row["chapter"], row.get("function", ""), row["code"])
    for name, row in table("attacks/filling.toml").items()
}
