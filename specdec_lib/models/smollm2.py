"""SmolLM2-135M-Instruct, a published chat model, and what drafts for it.

A draft model and an EAGLE head were distilled from it. The head is accepted more often, so it
drafts where nobody asks for the draft model.
"""

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.device import draft_dtype
from specdec_lib.models.catalogue import SMOLLM2, require_known
from specdec_lib.models.cut_vocabulary import CutVocabulary
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair
from specdec_lib.models.published.fetch import fetched_folder
from specdec_lib.models.scale import size_ratio
from specdec_lib.models.tokenizer import FileTokenizer

HEAD, DRAFT_MODEL = "eagle", "6m"
# The folder of each draft. The first drafts where nobody asks for another one.
FOLDERS = {HEAD: ASSETS / "smollm2-eagle", DRAFT_MODEL: ASSETS / "smollm2-draft"}
K = 2  # a longer block is hardly ever accepted whole
CHAT_END = 2  # <|im_end|>, which ends an answer
ENDS = frozenset([0, CHAT_END])  # 0 is <|endoftext|>


def load_smollm2(draft: str | None, device: torch.device, dtype: torch.dtype) -> Pair:
    """The pair, once it was fetched. Raises PairError before that."""
    draft = draft or HEAD
    require_known(f"draft of {SMOLLM2} called", draft, tuple(FOLDERS))
    folder = fetched_folder()
    target = Llama.from_folder(folder, device, dtype)
    dtype = draft_dtype(device, dtype)
    draft_folder = FOLDERS[DRAFT_MODEL]
    draft_model = CutVocabulary.from_folder(draft_folder, target.vocab_size, device, dtype)
    head = FOLDERS[HEAD] if draft == HEAD else None
    ratio = size_ratio(target.shape, draft_model.shape)
    with_what = "EAGLE head" if head else f"6M draft, {ratio} by parameters"
    label = f"SmolLM2-135M-Instruct with its {with_what}"
    tokenizer = FileTokenizer.from_folder(folder)
    return Pair(SMOLLM2, target, draft_model, tokenizer, label, ENDS, K, head)
