"""Chapter 08: what only its checks, puzzle, laws and figures have."""

import copy
import re
import tracemalloc
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from attempts import ATTEMPTS
from classes.chapter_cases import BLOCKS, functions_of, text_of
from classes.submitting import bug_of

from autograde.bugs import answers_of
from autograde.chapters import ch08_tests, ch08_wrong
from autograde.chapters.expected import ch08_expected as expected
from autograde.chapters.numbers import ch08_numbers as numbers
from autograde.tools.proof import grade_with, judged
from specdec_lib import exact
from specdec_lib.assets import ASSETS
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.decoding.verify import verify_block
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.lessons.ch08 import broken, computed, diagnosis, measured, puzzle
from specdec_lib.lessons.ch08 import checks as ch08
from specdec_lib.lessons.ch08.models import WatchedCache, WatchedModel, dyadic_table
from specdec_lib.lessons.common.comparing import in_form_of
from specdec_lib.lessons.common.describing import describe
from specdec_lib.lessons.common.examples import Different
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.experiment.loops import library_generate
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import ratio
from specdec_lib.sampling import Warp, choices_for

CHAPTER = "08_full_generation"
TEXT = text_of(CHAPTER)
PROMPT = ch08.PROMPT
FUNCTIONS = functions_of(CHAPTER)


def test_a_rollback_that_does_nothing_fails_the_check():
    with pytest.raises(Different, match=r"called truncate with \[\], expected \[11\]"):
        ch08.check_rollback(lambda cache, length: None)
    with pytest.raises(Different, match="positions, length=4.* returned None, expected ValueError"):
        ch08.check_rollback(ch08_wrong.clamped)


def test_the_check_sees_what_is_read_twice():
    with pytest.raises(Different, match="read the prompt again"):
        ch08.check_speculative_generate(ch08_wrong.prompt_read_every_block)


@pytest.mark.parametrize(
    "wrong, told",
    [
        (ch08_wrong.rollback_too_far, "the target had this: rolled back too far. A token of the"),
        (ch08_wrong.draft_reads_its_last_token, "the draft had this: too many passes. The target"),
        (ch08_wrong.bonus_dropped, "Block 3 was accepted whole, so the bonus token follows it"),
    ],
)
def test_the_check_names_what_a_loop_reads_or_leaves_out(wrong, told):
    with pytest.raises(Different, match=told):
        ch08.check_speculative_generate(wrong)


def written_by_the_decoder(request: ch08.Request, seed: int) -> list[list[int]]:
    """The tokens that each block of specdec_lib.decoding adds."""
    settings = Settings(request.most, Warp(request.temperature), request.eos_id)
    choices = choices_for(settings.warp, [np.random.default_rng(seed)])
    target, draft = ch08.models(request.models)
    drafter = ModelDrafter(draft)
    out = speculative_generate(target, drafter, [request.prompt], request.k, settings, choices)
    return [[*block.path, block.token][: block.kept] for block in out.blocks[0]]


def test_the_texts_of_the_check_are_the_decoders():
    for seed, request in ch08.EXAMPLES:
        assert written_by_the_decoder(request, seed) == request.blocks


def hidden_settings() -> Iterator[dict]:
    """What the hidden tests of speculative_generate ask for."""
    yield from map(ch08_tests.setting, numbers.SAMPLED + numbers.WHOLE)
    yield from (ch08_tests.setting(seed, temperature=0.0) for seed in numbers.GREEDY)
    for seed, temperature in numbers.TEMPERATURES:
        yield ch08_tests.setting(seed, temperature=temperature)
    yield from (ch08_tests.setting(**changes) for changes in numbers.ENDS)
    yield from (ch08_tests.setting(s, tokens=numbers.READING_TOKENS) for s in numbers.READING)


def test_what_the_hidden_tests_expect_is_what_the_decoder_writes():
    for request in map(lambda each: ch08_tests.asked(**each), hidden_settings()):
        assert written_by_the_decoder(request, request.models) == request.blocks


def test_what_the_hidden_tests_expect_of_a_verdict_is_the_decoders():
    args = [ch08_tests.edge(*each) for each in numbers.EDGES]
    args += [ch08_tests.block(*each) for each in numbers.BLOCKS + numbers.TOKEN_BLOCKS]
    for block in (*args, ch08_tests.block(*numbers.FLOAT32, torch.float32)):
        for ours, told in zip(expected.verdict(*block), verify_block(*block), strict=True):
            assert torch.equal(ours, told)


def test_what_is_measured_waits_for_its_check(monkeypatch):
    monkeypatch.setattr(ch08, "_passed", {})
    rollback = FUNCTIONS["rollback"]
    with pytest.raises(Different, match="runs your rollback, and its check has not passed"):
        ch08.checked(rollback)
    ch08.check_rollback(rollback)
    ch08.checked(rollback)
    changed = functions_of.__wrapped__(CHAPTER)["rollback"]  # the cell was run again
    with pytest.raises(Different, match="since you last changed it"):
        ch08.checked(rollback, changed)


MEASURING = ("identity.", "grid.run(", "engineering.", "traces.", "batches.", "seq2seq.")


@pytest.mark.parametrize("name", MEASURING)
def test_cells_that_measure_ask_for_the_checks(name: str):
    asking = "    lesson.checked(rollback, verify_block, speculative_generate)\n"
    assert TEXT.count("decoders.yours(") == TEXT.count(asking) == 1
    cells = [cell for cell in re.split(r"^# %%", TEXT, flags=re.MULTILINE) if name in cell]
    code = [cell for cell in cells if not cell.startswith(" [markdown]")]
    assert code and all("our_decoder()" in cell for cell in code)


WAITING = """
def verify_block(p, q, drafted, r, u):
    at = drafted[..., None]
    verdicts = (r * q.gather(-1, at)[..., 0] < p[:, :-1].gather(-1, at)[..., 0]).tolist()
    count = torch.tensor([[*row, False].index(False) for row in verdicts])
    rows = torch.arange(len(p))
    behind = torch.nn.functional.pad(q, (0, 0, 0, 1))
    rest = (p[rows, count] - behind[rows, count]).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 0, rest / mass, p[rows, count]), u)
"""


def graded(**answers: str):
    """The exercises of a notebook with these answers, and the solution's where they call them."""
    return judged(CHAPTER, **answers)


def test_a_right_verdict_that_waits_for_the_device_loses_a_tenth_and_is_told_so():
    exercise = graded(verify_block=WAITING)["verify_block"]
    assert exercise.score == pytest.approx(0.9 * exercise.max_score)
    (message,) = exercise.messages
    assert "used tolist" in message and "loop over the rows is clearer" not in message


def test_the_loop_over_rows_loses_a_tenth():
    code = bug_of("verify_block", "a loop over the rows is clearer", CHAPTER)
    exercise = graded(verify_block=code)["verify_block"]
    assert exercise.score == pytest.approx(0.9 * exercise.max_score)


PREFILLED = '''
def speculative_generate(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """The prompt is read apart, which is as good."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches = target.new_cache(), draft.new_cache()
    if max_new_tokens and len(text) > 1:
        for model, cache in zip((target, draft), caches):
            model.forward(torch.tensor([text[:-1]]), cache)
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        numbers = np.zeros(2 * n + 1)
        if temperature:
            numbers = np.array([*rng.random(n), *rng.random(n), rng.random()])
        drafted, q = [], []
        for u_i in numbers[:n]:
            q.append(warp(feed(draft, caches[1], text + drafted)[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([u_i]))))
        p = warp(feed(target, caches[0], text + drafted)[:, -n - 1 :])
        coins, last = torch.tensor(numbers[None, n:-1]), torch.tensor(numbers[-1:])
        block = torch.tensor([drafted]).long()
        count, token = verify_block(p, torch.cat([*q, p[:, :0]], 1), block, coins, last)
        for new in [*drafted[: int(count)], int(token)]:
            text.append(new)
            if new == eos_id:
                return text[len(prompt_ids) :]
        for cache in caches:
            rollback(cache, min(int(cache.length), len(text) - 1))
    return text[len(prompt_ids) :]
'''


def test_reading_the_prompt_apart_is_as_good():
    exercise = graded(speculative_generate=PREFILLED)["speculative_generate"]
    assert exercise.messages == []


def test_the_visible_check_asks_for_long_counts_and_for_nothing_read_for_0_tokens():
    with pytest.raises(Different, match=r"torch.float64, it should be torch.int64"):
        ch08.check_verify_block(ch08_wrong.count_in_floats)

    with pytest.raises(Different, match="0 tokens are asked for, and a model was called"):
        ch08.check_speculative_generate(ch08_wrong.prompt_read_for_nothing)


def test_temperatures_tell_the_law_that_judges_from_another():
    def texts(function) -> list[list[int]]:
        return [
            function(
                *map(WatchedModel, ch08_tests.tables(seed)),
                *(request[name] for name in ("prompt", "k", "tokens", "temperature")),
                np.random.default_rng(seed),
            )
            for seed, temperature in numbers.TEMPERATURES
            for request in [ch08_tests.setting(seed, temperature=temperature)]
        ]

    right = texts(FUNCTIONS["speculative_generate"])
    before = texts(ch08_wrong.draft_law_before_its_temperature)
    assert right[4:] != before[4:]
    assert texts(in_precision(torch.float32)) == right != texts(in_precision(torch.float16))


def in_precision(dtype: torch.dtype):
    """The solution's loop with distributions of `dtype`."""
    names = dict(FUNCTIONS)
    names["Warp"] = lambda temperature: lambda logits: Warp(temperature)(logits).to(dtype).double()
    exec(answers_of(CHAPTER)["speculative_generate"], names)
    return names["speculative_generate"]


BROKEN = "def verify_block(p, q, drafted, r, u):\n    return p[:, 0, 0].long(), p[:, 0, 0].long()"


def test_a_right_loop_of_wrong_parts_loses_a_small_share():
    loop = answers_of(CHAPTER)["speculative_generate"]
    result = grade_with(CHAPTER, verify_block=BROKEN, speculative_generate=loop)
    exercise = result.exercises["speculative_generate"]
    lost, words = exercise.max_score - exercise.score, "With your own verify_block, "
    (message,) = exercise.messages
    assert 0 < lost < 0.1 * exercise.max_score
    assert message.startswith("the whole decoder, with your own parts: ") and words in message


def test_the_call_of_a_rollback_shows_the_cache_as_it_was():
    code = "def rollback(cache, length):\n    cache.truncate(length)\n    return cache"
    first, *_ = graded(rollback=code)["rollback"].messages
    assert "rollback(cache=a cache of 14 positions, length=11) returned" in first


def test_the_check_sees_an_error_that_is_left_to_the_cache():
    with pytest.raises(Different, match=r"positions, 4\) called truncate\(4\) first"):
        ch08.check_rollback(ch08_wrong.left_to_the_cache)
    with pytest.raises(Different, match=r"positions, -1\) called truncate\(-1\) first"):
        ch08.check_rollback(ch08_wrong.too_short_left_to_the_cache)


RAISES_LATE = """
def rollback(cache, length):
    if length < 0:
        cache.truncate(0)
        raise ValueError(length)
    if length > cache.length[0]:
        raise ValueError(length)
    if length < cache.length[0]:
        cache.truncate(length)
"""


def test_a_refusal_behind_a_cut_is_not_taken_for_another_mistake():
    (message,) = graded(rollback=RAISES_LATE)["rollback"].messages
    assert "raised ValueError, but only after truncate(0)" in message
    assert "You may have assumed" not in message


@pytest.mark.parametrize("order", puzzle.ORDERS)
def test_puzzle_solved_is_a_decoder(order: str):
    lines = dict(puzzle.LINES)
    for letter, blank in puzzle.BLANKS.items():
        lines[letter] = lines[letter].replace("____", blank.right)
    body = "\n".join("        " + lines[letter] for letter in order)
    names = dict(FUNCTIONS)
    names["as_tensors"] = lambda *each: [
        torch.tensor([part]).long() if i == 0 else torch.tensor(np.array([part]))
        for i, part in enumerate(each)
    ]
    exec(
        "def write(target, draft, text, k, end, warp, rng):\n"
        "    target_cache, draft_cache = target.new_cache(), draft.new_cache()\n"
        "    while (left := end - len(text)) > 1:\n"
        f"{body}\n    return text",
        names,
    )
    seed, request = ch08.EXAMPLES[1]
    length = len(PROMPT)
    args = list(PROMPT), 3, length + ch08.TOKENS, Warp(1.0), np.random.default_rng(seed)
    out = names["write"](*ch08.models(request.models), *args)
    assert out[length:] == request.text[: len(out) - length] and len(out) > 9
    assert set(puzzle.LINES) - set(order) == {"E"}


def enumerated(loop, fault: str, made: str) -> float:
    """Exactly: alpha of the short texts in which `fault` shows, with the mistake `made`."""
    _, _, k, length = broken.FAULTS[fault]
    accepted = judged = 0.0

    def run(script: broken.Halves) -> None:
        nonlocal accepted, judged
        pair = broken.careless(made, *map(WatchedModel, (broken.TARGET, broken.DRAFT)))
        new = loop(*pair, broken.START, k, length, 1.0, script)
        right, tried = broken.counted(pair[0].read, [*broken.START, *new], len(broken.START))
        accepted, judged = accepted + script.weight * right, judged + script.weight * tried

    exact.distribution(run, broken.Halves)
    return accepted / judged


@pytest.mark.parametrize("fault", broken.FAULTS)
def test_a_mistake_in_the_drafts_cache_costs_alpha_and_in_the_targets_the_texts(fault: str):
    loop = FUNCTIONS["speculative_generate"]
    assert broken.distance(loop, fault) == (0.25 if fault == "the target's rollback" else 0)
    if broken.FAULTS[fault].whose == "draft":
        spoilt, right = (enumerated(loop, fault, made) for made in (fault, "nothing"))
        assert spoilt == right - 0.125


def test_the_librarys_loop_breaks_in_the_same_way():
    assert broken.distance(library_generate, "the draft's rollback") == 0
    assert broken.distance(library_generate, "the target's rollback") == 0.25


def test_a_right_loop_with_a_careless_draft_writes_what_the_wrong_loop_writes():
    for seed in range(6):
        loops = FUNCTIONS["speculative_generate"], ch08_wrong.bonus_not_fed
        texts = []
        for loop, fault in zip(loops, ("the bonus feed", "nothing"), strict=True):
            pair = broken.careless(fault, *map(WatchedModel, ch08_tests.tables(seed)))
            texts.append(loop(*pair, [1, 2, 3], 3, 20, 1.0, np.random.default_rng(seed)))
        assert texts[0] == texts[1]


def test_what_breaks_a_decoder_leaves_the_threads_as_they_were():
    def ends(*_) -> list[int]:
        assert torch.get_num_threads() == 1
        raise KeyboardInterrupt

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            model = WatchedModel(broken.TARGET)
            broken.alpha(ends, (model, model), "nothing", [[0, 1]], 4)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_what_breaks_on_the_built_in_pair_is_what_the_text_says():
    target, draft = (Llama.from_folder(ASSETS / name) for name in ("target", "base"))

    def alpha(small: Llama, fault: str) -> float:
        loop = FUNCTIONS["speculative_generate"]
        return broken.alpha(loop, (target, small), fault, prompts(3), 48)

    right = alpha(draft, "nothing")
    assert alpha(draft, "the draft's rollback") == pytest.approx(2 * right / 3, abs=0.07)
    assert alpha(draft, "the bonus feed") == pytest.approx(right, abs=0.04)
    assert alpha(target, "the bonus feed") < 0.85
    text = TEXT.replace("\n# ", " ")
    assert "about a third of the acceptance rate" in text and "hardly shows" in text


MINE = [each for each in ATTEMPTS if each.chapter == CHAPTER]


@pytest.mark.parametrize("attempt", MINE, ids=lambda each: each.name)
def test_the_visible_check_refuses_what_loses_points(attempt):
    """A check that passes means the points of what it names."""
    names = dict(FUNCTIONS)
    exec(attempt.code, names)
    with pytest.raises((Different, NotImplementedError)):
        getattr(ch08, f"check_{attempt.exercise}")(names[attempt.exercise])


def test_a_copy_of_a_pair_shares_its_passes_and_changes_nothing_in_the_first():
    passes: list = []
    pair = [
        ch08_tests.RemoteModel(t, n, 1, passes) for n, t in zip("ab", ch08.tables(1), strict=True)
    ]
    first, second = copy.deepcopy(pair)
    cache = first.new_cache()
    first.forward(torch.tensor([[1, 2]]), cache)
    assert first.passes is second.passes and len(first.passes) == 1 and first.thing is first
    again = copy.deepcopy(cache)
    first.forward(torch.tensor([[3]]), cache)
    assert (passes, len(again.tokens), again.thing) == ([], 2, again)
    assert first.faults == second.faults == []


def test_the_quiz_counts_what_the_drafts_cache_holds():
    target, draft = (WatchedModel(dyadic_table(3)) for _ in range(2))
    caches = []
    draft.new_cache = lambda: caches.append(WatchedCache()) or caches[-1]
    FUNCTIONS["speculative_generate"](target, draft, [1] * 20, 4, 10, 1.0, np.random.default_rng(0))
    before = [each for each in draft.passes if each.start == 23]
    assert len(before[0].tokens) == 2 and len(before[0].held) == 25


def test_the_ratios_of_the_pairs_are_those_of_the_text():
    target = read_shape(ASSETS / "target")
    ratios = [ratio(target, read_shape(ASSETS / name)) for name in ("small", "base", "large")]
    assert ratios == ["a 17:1", "an 8:1", "a 4:1"]
    assert "as a 17:1, 8:1 or 4:1" in TEXT.replace("\n# ", " ")


def test_the_solutions_verdict_has_the_targets_law():
    accepted, added, rows = computed.block_law(FUNCTIONS["verify_block"])
    open_mass = 1 - (accepted + added).sum(-1, keepdims=True)
    assert np.abs(accepted + added + open_mass * computed.P - computed.P).max() < 1e-12
    assert rows == 3456 and f"{rows:,} rows" in TEXT


def test_the_solutions_loop_has_the_targets_law_and_a_wrong_one_has_not():
    law, runs = computed.text_law(FUNCTIONS["speculative_generate"])
    assert np.abs(law - computed.plain_law()).max() < 1e-15 and runs == 56
    law, _ = computed.text_law(library_generate)
    assert np.abs(law - computed.plain_law()).max() < 1e-15
    for wrong in (ch08_wrong.argmax_draft, ch08_wrong.numbers_used_again):
        law, _ = computed.text_law(wrong)
        assert np.abs(law - computed.plain_law()).max() > 0.05


def test_a_loop_that_draws_or_writes_too_much_is_told_so_soon():
    with pytest.raises(ValueError, match="does it still draw numbers for k"):
        computed.text_law(ch08_wrong.numbers_for_k)
    with pytest.raises(ValueError, match="for 2 tokens your loop gave 3"):
        computed.text_law(ch08_wrong.limit_overshot)


def test_figures_of_an_interrupted_experiment_say_what_is_missing():
    with pytest.raises(ValueError, match="let the experiment's cell run to its end"):
        measured.beside_the_papers([], [], [])
    with pytest.raises(ValueError, match="let the experiment's cell run to its end"):
        measured.against_hugging_face([])


def test_without_hugging_face_a_line_stands_in_place_of_its_figure(monkeypatch, capsys):
    row = SimpleNamespace(empirical={"median": 1.5, "low": 1.4, "high": 1.6}, over_hugging=None)
    monkeypatch.setattr(measured, "show", lambda figure, alt: pytest.fail(alt))
    measured.against_hugging_face([row])
    assert "Hugging Face was not run beside your decoder" in capsys.readouterr().out


def test_fates_of_a_block():
    assert [measured.fates(block) for block in BLOCKS] == [(3, 0, 1), (1, 1, 0), (2, 0, 0)]


def test_tensors_are_described_in_short():
    assert describe(torch.tensor([1, 2])) == "tensor([1, 2])"
    assert describe(torch.zeros(20, 3)) == "a tensor of shape (20, 3)"
    assert describe(WatchedCache([1, 2])) == "a cache of 2 positions"


def loop(**parts: str) -> str:
    """The solution's loop with other `parts` in the places of its own lines."""
    code = answers_of(CHAPTER)["speculative_generate"]
    for name, line in parts.items():
        assert LINES[name] in code
        code = code.replace(LINES[name], line)
    return code


LINES = {
    "n": "n = min(k, end - len(text) - 1)",
    "numbers": "u_draft, r, u = rng.random(n), rng.random(n), rng.random()",
    "feed": "feed(draft, draft_cache, text + drafted)",
    "ended": "if eos_id in new:",
    "draft_back": "rollback(draft_cache, min(int(draft_cache.length[0]), len(text) - 1))",
    "written": "text += new",
    "returned": "return text[len(prompt_ids) :]",
}
LAST_ONLY = (
    "draft.forward(torch.tensor([(text + drafted)[int(draft_cache.length[0]) and -1 :]]), "
    "draft_cache)"
)
CUT = "return text[len(prompt_ids) :][:max_new_tokens]"
# What students write, and what they are told.
SLIPS = {
    "n is k, then cut": ({"n": "n = k", "returned": CUT}, r"drafts n = min\(3, 2 - 1\) = 1 and"),
    "n is k": ({"n": "n = k"}, "12 tokens came back, and max_new_tokens is 9"),
    "min(k, left)": (
        {"n": "n = min(k, end - len(text))", "returned": CUT},
        "Block 4 has 2 tokens left .* Yours took 2 and 2 and 1 numbers there",
    ),
    "u first": (
        {"numbers": "u, u_draft, r = rng.random(), rng.random(n), rng.random(n)"},
        "Block 1 has 9 tokens left .* Yours took 1 and 3 and 3 numbers",
    ),
    "the prompt too": ({"returned": "return text"}, "The prompt came back too"),
    "eos_id only as the last token": ({"ended": "if eos_id == new[-1]:"}, "inside a block as well"),
    "only the last token is fed": (
        {"feed": LAST_ONLY},
        r"is the draft's. Its cache held the first 8 of 10 tokens, so it had to read \[0, 1\] next",
    ),
    "only the last token, cut": (
        {"feed": LAST_ONLY, "draft_back": "draft_cache.truncate(len(text) - 1)"},
        "a draft has not read the last token that it drafted",
    ),
    "the text does not grow": (
        {"written": "pass"},
        "the draft was called more than 400 times: does every block add its tokens to the text",
    ),
    "the draft is rolled back to what it never held": (
        {"draft_back": "rollback(draft_cache, len(text) - 1)"},
        "The error came after block 5, in which no draft token was rejected. There the draft's",
    ),
    "the draft is not rolled back": (
        {"draft_back": "pass"},
        "is the draft's. Its cache held 2 at position 3, where the text has 3",
    ),
}


def made(code: str):
    """The function of an answer."""
    names = dict(FUNCTIONS)
    exec(code, names)
    return names["speculative_generate"]


@pytest.mark.parametrize("parts, told", SLIPS.values(), ids=SLIPS)
def test_the_visible_check_sees_a_slip_of_the_loop_and_says_what_it_is(parts, told):
    with pytest.raises(Different, match=rf"{told}.*\(?target, draft = lesson.models\(\d\)"):
        ch08.check_speculative_generate(made(loop(**parts)))


ALIASED = answers_of(CHAPTER)["speculative_generate"].replace("list(prompt_ids)", "prompt_ids")


def test_a_right_text_with_a_changed_argument_is_told_nothing_else():
    code = ALIASED.replace(LINES["returned"], "return text[-max_new_tokens:]")
    with pytest.raises(Different, match=r"still needs the old one. \(target, draft = lesson.mod"):
        ch08.check_speculative_generate(made(code))


def test_a_text_that_ends_too_soon_is_not_ended_by_the_prompt():
    request = ch08.Request(1, [1, 2], 3, 6, 1.0, 1, [[3, 2], [0], [3, 0, 2]])
    for got, told in (
        ([3, 2, 0, 3, 0], "ends after 5 of 6 tokens"),
        ([3, 2], "eos_id stands in the prompt"),
        ([], "eos_id stands in the prompt"),
    ):
        assert told in diagnosis.cause(request, got, [3, 3, 1, 3, 3, 1, 2, 2, 1], [])


ONE_USE = "m = rng.random(2 * n + 1); u_draft, r, u = m[:n], m[n:-1], m[-1]"


def test_all_numbers_of_a_block_may_be_drawn_at_once():
    ch08.check_speculative_generate(made(loop(numbers=ONE_USE)))


@pytest.mark.parametrize("name", ["n is k, then cut", "the prompt too"])
def test_a_slip_at_the_end_of_the_text_costs_the_end_alone(name: str):
    exercise = graded(speculative_generate=loop(**SLIPS[name][0]))["speculative_generate"]
    lost = [each.name for each in exercise.groups if not each.passed]
    assert lost == ["where the text ends, a list of the new tokens alone"]
    assert "(target, draft = lesson.models(" in exercise.messages[0]


def verdict(line: str, other: str) -> str:
    """The solution's verify_block with another line."""
    code = answers_of(CHAPTER)["verify_block"]
    assert line in code
    return code.replace(line, other)


@pytest.mark.parametrize(
    "other, told",
    [
        ("return count.int(), sample_rows(law, u)", "its dtype is torch.int32, it should be torch"),
        ("return [count, sample_rows(law, u)]", "it should be a tuple, not a list"),
    ],
)
def test_a_wrong_form_of_a_verdict_costs_one_behaviour_and_is_named(other: str, told: str):
    code = verdict("return count, sample_rows(law, u)", other)
    exercise = graded(verify_block=code)["verify_block"]
    (message,) = exercise.messages
    assert told in message and exercise.score == pytest.approx(0.9 * exercise.max_score)


def test_an_array_of_many_empty_rows_is_compared_in_little_memory():
    tracemalloc.start()
    in_form_of(torch.zeros(2), np.zeros((10**6, 0)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10**6


def test_a_wrong_row_is_shown_as_a_call_that_can_be_pasted():
    code = verdict("law = torch.where(mass > 0, rest / mass, p_next)", "law = rest + 0 * mass")
    message = graded(verify_block=code)["verify_block"].messages[0]
    call = re.search(r"verify_block\((p=.*?)\) returned (\(.*?\)), expected (\(.*?\))\.", message)
    names = {"torch": torch, "tensor": torch.tensor}
    block = eval(f"dict({call[1]})", names)
    assert all(len(part) == 1 for part in block.values())
    outs = {2: made_verdict(code)(**block), 3: FUNCTIONS["verify_block"](**block)}
    for group, out in outs.items():
        assert all(map(torch.equal, out, eval(call[group], names)))


def test_the_hint_of_a_row_speaks_of_that_row_alone_and_its_coins_are_short():
    """An equal product that passes is told at the row that is shown, not by the whole block."""
    with pytest.raises(Different) as told:
        ch08.check_verify_block(made_verdict(verdict("r * q_drafted <", "r * q_drafted <=")))
    assert "0.5 x 0.5 equals its p, and an equal product rejects" in told.value.hint
    assert "Row 0" not in str(told.value) and "r=torch.tensor([[0.9, 0.5]]" in told.value.seen


def made_verdict(code: str):
    names = dict(FUNCTIONS)
    exec(code, names)
    return names["verify_block"]


def test_a_row_that_takes_from_another_is_told_that_it_is_right_alone():
    code = verdict("sample_rows(law, u)", "sample_rows(law, u[:1].expand(len(u)))")
    exercise = graded(verify_block=code)["verify_block"]
    assert "Alone, row 4 is judged right: is something of another row" in exercise.messages[0]
    assert {each.cause for each in exercise.groups} <= {"one u serves all rows.", None}
