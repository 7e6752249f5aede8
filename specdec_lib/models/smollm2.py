"""SmolLM2-135M-Instruct, a published chat model, with a small draft that was distilled from it."""

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

DRAFT_FOLDER = ASSETS / "smollm2-draft"
DRAFTS = ("6m",)
K = 2  # a longer block is hardly ever accepted whole
CHAT_END = 2  # <|im_end|>, which ends an answer
ENDS = frozenset([0, CHAT_END])  # 0 is <|endoftext|>


def load_smollm2(draft: str | None, device: torch.device, dtype: torch.dtype) -> Pair:
    """The pair, once it was fetched. Raises PairError before that."""
    require_known(f"draft of {SMOLLM2} called", draft or DRAFTS[0], DRAFTS)
    folder = fetched_folder()
    target = Llama.from_folder(folder, device, dtype)
    dtype = draft_dtype(device, dtype)
    draft_model = CutVocabulary.from_folder(DRAFT_FOLDER, target.vocab_size, device, dtype)
    ratio = size_ratio(target.shape, draft_model.shape)
    label = f"SmolLM2-135M-Instruct with its 6M draft, {ratio} by parameters"
    return Pair(SMOLLM2, target, draft_model, FileTokenizer.from_folder(folder), label, ENDS, K)
