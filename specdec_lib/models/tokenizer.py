"""The tokenizer in a model's folder, without the seconds that importing transformers takes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer


def chat_prompt(tokenizer: Any, question: str) -> str:
    """The text after which a chat model answers `question`, by its tokenizer's chat template."""
    messages = [{"role": "user", "content": question}]
    return tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)


class FileTokenizer:
    """A tokenizer.json; ids and texts are those that transformers gives for the same file."""

    def __init__(self, tokenizer: Tokenizer, chat_template: str | None = None) -> None:
        self.backend_tokenizer, self.chat_template = tokenizer, chat_template

    @classmethod
    def from_folder(cls, folder: Path) -> "FileTokenizer":
        """The tokenizer of a Hugging Face folder, with the chat template of its configuration."""
        config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        return cls(Tokenizer.from_file(str(folder / "tokenizer.json")), config.get("chat_template"))

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`."""
        return self.backend_tokenizer.encode(text).ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; the end-of-text token is shown as it is written."""
        return self.backend_tokenizer.decode(ids, skip_special_tokens=False)

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, str]], add_generation_prompt: bool, tokenize: bool
    ) -> str:
        """The text of a dialogue as the model was trained on it; `tokenize` must be False."""
        template = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(
            self.chat_template
        )
        return template.render(messages=messages, add_generation_prompt=add_generation_prompt)
