"""What the course shows without measuring it anew: `python -m specdec_lib.measure.recording NAME`.

`blocks`: real blocks of the built-in pair, in lessons/data/recorded.json.
`passes`: the passes of a small service, in lessons/ch06/passes.json.
`race`: a race of a published pair, in measure/race/recorded.json, and the README's picture of it.
`contest`: chapter 08's contest on the chat model, in lessons/ch08/contest.json. It needs the
weights, and the chapter's solution in the checkout.
`answer`: a chat model's answer with its logits, in lessons/ch02/answer.npz. It needs the weights:
`specdec fetch smollm2-135m`.
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter

from specdec_lib.files import write_whole
from specdec_lib.measure.experiment.contest import CONTEST_FILE
from specdec_lib.measure.recording import answer, blocks, contest, passes, race

# The file by name, what makes its content, and what is to be done afterwards.
RECORDINGS = {
    "blocks": (blocks.BLOCKS_FILE, blocks.blocks_json),
    "passes": (passes.PASSES_FILE, passes.passes_json),
    "race": (race.RACE_FILE, race.race_json, race.draw_race),
    "contest": (CONTEST_FILE, contest.recording),
    "answer": (answer.ANSWER_FILE, answer.answer_npz),
}


def main(arguments: list[str] | None = None) -> None:
    """Record the file that is asked for."""
    name, form = "python -m specdec_lib.measure.recording", RawDescriptionHelpFormatter
    command = ArgumentParser(name, description=__doc__, formatter_class=form)
    command.add_argument("name", choices=RECORDINGS)
    path, make_content, *afterwards = RECORDINGS[command.parse_args(arguments).name]
    content = make_content()
    write_whole(path, content if isinstance(content, bytes) else content + "\n")
    for step in afterwards:
        step()


if __name__ == "__main__":
    main()
