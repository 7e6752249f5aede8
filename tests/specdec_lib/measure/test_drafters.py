"""The table of all drafters: its members, their K, and the page that describes them."""

import re
from pathlib import Path

import torch
from decoders.exact_drafters import NO_DRAFTERS

from specdec_lib import drafters
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.models import target
from specdec_lib.measure.drafters import PLAIN, chains, chosen, table, trees

PAGE = Path(__file__).parents[3] / "docs" / "drafters.md"


def test_every_drafter_and_plain_decoding_have_a_row():
    model = target(None, torch.float32)
    found = table(model, 6, prompts(4, length=16))
    assert set(found.index) == {PLAIN, *chains(model, 6), *trees(model, 6)}
    assert found.speedup[PLAIN] == 1 and (found.tokens_per_pass >= 1).all()
    assert found.speedup.is_monotonic_decreasing and found.alpha["large draft"] > 0
    assert found.setting["tree of Medusa heads"] == "2x1"


def test_the_cost_model_chooses_k():
    """A wide pass that costs nothing asks for the most draft tokens, a dear one for the fewest."""
    large = chains(target(None, torch.float32), 24)["large draft"]
    free, dear = dict.fromkeys(range(1, 7), 1.0), {m: float(m) for m in range(1, 7)}
    assert chosen(large, free, token=1.0, texts=prompts(3)).setting == "K = 5"
    assert chosen(large, dear, token=1.0, texts=prompts(3)).setting == "K = 1"


def test_drafters_on_the_targets_states_are_made_for_a_dearer_target_too():
    dear = target("40m", torch.float32)
    decoders = [chains(dear, 6)["EAGLE head"](2), trees(dear, 6)["tree of Medusa heads"]]
    assert all(len(decode(prompts(1)[0]).tokens[0]) == 6 for decode in decoders)


def test_the_page_describes_every_drafter():
    files = {path.name for path in Path(drafters.__file__).parent.glob("*.py")} - NO_DRAFTERS
    links = re.findall(r"^\| \[(\w+\.py)\]\(\.\./specdec_lib/drafters/\1\)", PAGE.read_text(), re.M)
    assert set(links) == files
