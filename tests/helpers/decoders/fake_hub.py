"""A hub whose repositories are folders of ours, and the tiny models in them."""

from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

from huggingface_hub.errors import DryRunError, LocalEntryNotFoundError
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedModel, PreTrainedTokenizerFast

VOCABULARY = ["</s>", *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU"]  # 48 words


def write_model(folder: Path, model: PreTrainedModel, words: list[str] = VOCABULARY) -> None:
    """Save a model and a tokenizer of single words, which ends every text with </s>."""
    model.save_pretrained(folder)
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=words[-1]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 0)]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    fast.save_pretrained(folder)


class Hub:
    """`huggingface_hub.snapshot_download` of the repositories below `root`.

    `fetched` are the weights that were downloaded, `revisions` what was asked for.
    """

    def __init__(self, root: Path, gigabytes: float = 2) -> None:
        self.root, self.size, self.online = root, int(gigabytes * 1e9), True
        self.fetched: list[str] = []
        self.revisions: dict[str, str | None] = {}

    def __call__(
        self, model: str, revision: str | None, allow_patterns: list[str], dry_run: bool = False
    ) -> str | list[SimpleNamespace]:
        self.revisions[model] = revision
        files = sorted(path.name for path in (self.root / model).glob("*"))
        if not files or (dry_run and not self.online):
            raise DryRunError("no network") if dry_run else LocalEntryNotFoundError("not cached")
        wanted = [file for file in files if any(fnmatch(file, p) for p in allow_patterns)]
        if dry_run:
            return [
                SimpleNamespace(
                    filename=file,
                    file_size=self.size,
                    will_download=f"{model}/{file}" not in self.fetched,
                )
                for file in wanted
            ]
        self.fetched += [f"{model}/{file}" for file in wanted if not file.endswith(".json")]
        return str(self.root / model)
