"""All numbers of the training: the sizes of the models, the steps and the rates."""

from dataclasses import dataclass

from transformers import LlamaConfig

from specdec_lib.training.corpus import VOCAB_SIZE

CONTEXT_LENGTH = 512  # tokens
SEED = 20240229


@dataclass(frozen=True)
class ModelSize:
    """The size of a Llama: width, layers, heads and the width of the MLP."""

    width: int
    layers: int
    heads: int
    mlp: int
    kv_heads: int | None = None  # as many as heads
    vocab: int = VOCAB_SIZE
    context: int = CONTEXT_LENGTH

    def config(self) -> LlamaConfig:
        """The Hugging Face configuration; input and output embeddings are one matrix."""
        return LlamaConfig(
            vocab_size=self.vocab,
            hidden_size=self.width,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.kv_heads or self.heads,
            intermediate_size=self.mlp,
            max_position_embeddings=self.context,
            tie_word_embeddings=True,
            bos_token_id=0,
            eos_token_id=0,
        )


@dataclass(frozen=True)
class Recipe:
    """How long a training lasts and how fast it learns.

    The learning rate is constant after `warmup` steps and falls to zero in a straight line over the
    last `decay` share of the steps. `muon` is the rate of the matrices (Jordan et al., 2024), and
    `adam` that of the embedding and the norms. A distillation takes the cross-entropy for the first
    `cross_entropy` share of the steps, then the total variation.
    """

    steps: int
    batch: int  # windows of CONTEXT_LENGTH tokens a step, or rows of ROW_LENGTH
    muon: float = 0.02
    adam: float = 0.003
    warmup: int = 50
    decay: float = 0.4
    cross_entropy: float = 0.34

    def rate(self, step: int) -> float:
        """The factor on the learning rates at `step`, in 0..1."""
        left = (self.steps - step) / (self.decay * self.steps)
        return min(1.0, (step + 1) / self.warmup, max(left, 0.0))


TARGET_SIZE = ModelSize(width=384, layers=4, heads=6, mlp=1024)  # 7.9M parameters
# At most 1/16, 1/8 and 1/4 of the target's parameters.
DRAFT_SIZES = {
    "small": ModelSize(width=128, layers=1, heads=2, mlp=384),
    "base": ModelSize(width=160, layers=2, heads=5, mlp=448),
    "large": ModelSize(width=256, layers=2, heads=4, mlp=576),
}
TARGET_RECIPE = Recipe(steps=800, batch=24)
DRAFT_RECIPE = Recipe(steps=1500, batch=12)
EAGLE_SIZE = ModelSize(width=128, layers=1, heads=4, mlp=384)  # heads of eagle.HEAD_WIDTH
EAGLE_RECIPE = Recipe(steps=2100, batch=2, decay=0.3, cross_entropy=0.4614)

# The text that SmolLM2 writes comes in pieces of PIECE_ROWS rows.
PIECE_ROWS, ROW_LENGTH = 192, 256  # rows, tokens
TOP = 64  # of the target's most probable tokens are kept at each position
SMOLLM2_DRAFT_SIZE = ModelSize(256, 4, 4, 704, kv_heads=2, vocab=12_288, context=2048)
SMOLLM2_HEAD_SIZE = ModelSize(384, 1, 12, 1024)  # heads of eagle.HEAD_WIDTH
# The head learns in the draft's vocabulary, and drafts in a smaller one: of an acceptance of 0.393
# that costs 0.011, and it saves a third of a step (AMD EPYC, 2026-11-28).
SMOLLM2_HEAD_VOCAB = 2048


def smollm2_recipe(rows: int, epochs: float, **rates: float) -> Recipe:
    """The training of a draft of SmolLM2 on so many rows, with these rates."""
    batch = 16
    return Recipe(max(1, round(epochs * rows / batch)), batch, **rates, warmup=40, decay=0.7)
