"""SmolLM2-135M-Instruct, a published chat model, with a small draft that was distilled from it."""

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.models.catalogue import SMOLLM2, require_known
from specdec_lib.models.cut_vocabulary import CutVocabulary
from specdec_lib.models.fetch import fetched_folder
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair
from specdec_lib.models.tokenizer import FileTokenizer

DRAFT_FOLDER = ASSETS / "smollm2-draft"
DRAFTS = ("6m",)
CHAT_END = 2  # <|im_end|>, which ends an answer
ENDS = frozenset([0, CHAT_END])  # 0 is <|endoftext|>


def load_smollm2(draft: str | None, device: torch.device, dtype: torch.dtype) -> Pair:
    """The pair, once it was fetched. Raises PairError before that."""
    require_known(f"draft of {SMOLLM2} called", draft or DRAFTS[0], DRAFTS)
    folder = fetched_folder()
    target = Llama.from_folder(folder, device, dtype)
    draft_model = CutVocabulary.from_folder(DRAFT_FOLDER, target.vocab_size, device, dtype)
    label = "SmolLM2-135M-Instruct with its 6M draft"
    return Pair(SMOLLM2, target, draft_model, FileTokenizer.from_folder(folder), label, ENDS)
