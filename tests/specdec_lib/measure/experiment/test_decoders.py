"""The decoder that chapter 08 measures, and where two greedy texts part."""

import torch

from specdec_lib.measure import prompts
from specdec_lib.measure.experiment import identity
from specdec_lib.measure.experiment.decoders import LIBRARY_DECODER
from specdec_lib.measure.library_decoders import GREEDY, SAMPLED
from specdec_lib.measure.race.lanes import student_lane
from specdec_lib.measure.race.turns import LaneRunner


def test_a_loop_draws_the_same_again_and_all_its_passes_are_counted(machine):
    target, draft = machine.target, machine.drafts["small"]
    (prompt,) = prompts.prompts(1)

    def written(k, warp, tokens):
        lane = student_lane(LIBRARY_DECODER.generate, draft, k)
        return LaneRunner(lane, target, warp, tokens)([prompt])

    runs = [written(3, SAMPLED, 8) for _ in range(2)]
    assert runs[0].tokens == runs[1].tokens and len(runs[0].tokens[0]) == 8
    found = written(3, GREEDY, 8)
    # The second one reads a prompt, and one token.
    plain = written(1, GREEDY, 1)
    assert plain.target_passes == 2 and 4 <= found.target_passes <= 9


def test_another_text_is_different_and_a_near_tie_is_told_apart(machine, monkeypatch):
    prompt, right, target = [5, 6, 7], [1, 2, 3], machine.target

    def verdict(mine: list[int]) -> dict[str, int]:
        return identity.count_identical_texts(target, [(prompt, mine, right)])

    assert verdict(right) == {"the same": 1, "near-tie": 0, "different": 0}
    assert verdict([1, 2, 4])["different"] == verdict([1, 2])["different"] == 1
    logits = target.forward(torch.tensor([[*prompt, 1, 2]]), target.new_cache())[0, -1]
    found = identity.parting(target, prompt, [1, 2, 4], right)
    assert found.place == 2 and abs(found.gap - float(logits[3] - logits[4]).__abs__()) < 1e-4
    monkeypatch.setattr(identity, "near_tie", lambda target: 1e6)
    assert verdict([1, 2, 4])["near-tie"] == 1


def test_a_table_of_partings_names_the_first_place_and_its_two_logits(machine):
    pair = machine.target, machine.drafts["small"]

    def forgetful(target, draft, prompt, k, tokens, temperature, rng):
        return [1, 2, 3 + (k > 0 and prompt == [7])]

    rows = identity.first_partings(forgetful, {"it": pair}, [[5], [7]])
    assert rows["the texts part"].tolist() == ["text 2, token 3"] and rows.gap[0] > 0
    right = identity.first_partings(lambda *args: [1], {"it": pair}, [[5]])
    assert right["the texts part"].tolist() == ["nowhere"] and "gap" not in right


def test_the_tokens_that_are_accepted_are_counted_by_block(machine):
    target, prompt = machine.target, prompts.prompts(1)[0]
    pairs = {"itself": (target, target), "small": (target, machine.drafts["small"])}
    rows = LIBRARY_DECODER.acceptance_table(pairs, [prompt], lambda ids: ids[:64] == prompt)
    itself, small = rows["accepted of 4 a block"]
    assert 3.7 < itself <= 4 and 0 < small < itself
    assert rows["right texts"].tolist() == ["1 of 1"] * 2
