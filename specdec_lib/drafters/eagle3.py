"""Published EAGLE-3 heads (Li et al., 2025, arXiv:2503.01840), as a chain or a tree.

EAGLE's layer predicts the target's next state. EAGLE-3's is free in what it passes on: it was
trained on its own outputs, so that nothing but the tokens has to come out right. It begins with
three of the target's states, a low, a middle and a high one, which a matrix makes one. Its
queries, keys and values read the embedding of the next token beside the state; and it has a
vocabulary head of its own, for the tokens that are frequent in its training texts. A token that it
does not know has a q of 0 and comes from the target alone.

The files and the forward pass are those of github.com/SafeAILab/EAGLE, eagle/model/cnets.py at
148042c5, and of the heads that vLLM and SGLang load (llama_eagle3.py in vllm at 00bd1493 and in
sglang at 03d5a777).
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from specdec_lib.drafters.eagle import StateChain, StateTree
from specdec_lib.models.cache import Hidden, Tree
from specdec_lib.models.checkpoint import LayerWeights, layer_sizes, layer_weights, require_size
from specdec_lib.models.linear import Linear
from specdec_lib.models.llama import Layer, Llama, RMSNorm
from specdec_lib.models.saved.config import QKV, Shape, read_config, shape_of
from specdec_lib.models.saved.tensors import TensorFiles

LAYER = "model.layers.0."  # "midlayer." with EAGLE's authors, "layers.0." with speculators
NORM_STATE, EMBEDDING = f"{LAYER}hidden_norm.weight", "embed_tokens.weight"
OFFSETS, KNOWN = "d2t", "t2d"  # to the target's number of each token; which of those are known
AUXILIARY = "eagle_aux_hidden_state_layer_ids"  # in config.json: which states a head reads


class Eagle3Weights(NamedTuple):
    """A head of the target's width w, for n of its tokens."""

    shape: Shape  # of its layer
    taps: tuple[int, ...]  # the layers of the target whose inputs it reads, three
    normed: bool  # whether the state is passed by the layer as its norm left it
    embedding: Tensor  # (vocabulary, w), in most files the target's
    fuse: Tensor  # (w, 3 w)
    norm_token: Tensor  # (w,), of the embedding
    layer: LayerWeights  # qkv (rows, 2 w) reads the embedding and the state, each normed
    norm: Tensor  # (w,), before the head
    head: Tensor  # (n, w)
    to_target: Tensor  # (n,) long: the target's number of each token


class Eagle3(StateChain):
    """A chain from an EAGLE-3 head."""

    def __init__(self, target: Llama, weights: Eagle3Weights) -> None:
        super().__init__(target, weights.shape)
        self.taps, self.normed, self.embedding = weights.taps, weights.normed, weights.embedding
        self.fuse, self.layer = Linear(weights.fuse), Layer(weights.layer, self.shape)
        self.norm_token = RMSNorm(weights.norm_token, self.shape.epsilon)
        self.head = FrequentTokens(weights, target.vocab_size)

    def observe(self, hidden: Hidden) -> None:
        """The target has made a pass: its three states at every position become one."""
        super().observe(hidden._replace(states=self.fuse(hidden.states)))

    @torch.no_grad()
    def next_states(self, known: Tensor, tokens: Tensor, tree: Tree | None = None) -> Tensor:
        """As in StateChain; the states are the head's own."""
        state, token = self.layer.norm_attention(known), F.embedding(tokens, self.embedding)
        both = torch.cat((self.norm_token(token), state), -1)
        here = self.here(both, tree)
        x = state if self.normed else known
        x = x + self.layer.attention(both, here, self.cache.held(0))
        return x + self.layer.mlp(x)


class Eagle3Tree(StateTree, Eagle3):
    """A tree from an EAGLE-3 head.

    Of a fixed shape. The paper's grows where the head is surest, as in EAGLE-2 (Li et al., 2024,
    arXiv:2406.16858).
    """


class FrequentTokens:
    """The head's own vocabulary head, whose logits are put in the places of the target's."""

    def __init__(self, weights: Eagle3Weights, vocab_size: int) -> None:
        self.norm = RMSNorm(weights.norm, weights.shape.epsilon)
        self.linear, self.to_target = Linear(weights.head), weights.to_target
        self.vocab_size = vocab_size

    def __call__(self, states: Tensor) -> Tensor:
        """(n, w) -> (n, V); -inf for a token that the head does not know."""
        known = self.linear(self.norm(states[None]))[0]  # a norm reads rows of texts
        logits = known.new_full((len(known), self.vocab_size), float("-inf"))
        return logits.index_copy_(-1, self.to_target, known)


def load_head(target: Llama, folder: Path | str) -> Eagle3Weights:
    """Read the EAGLE-3 head in `folder` (config.json and weights) for `target`.

    Raises ValueError if it is none that is known here, or was made for another target.
    """
    folder = Path(folder)
    config = head_config(folder)
    shape = shape_of(folder / "config.json", config)
    require_fit(folder, shape, target)
    shape = replace(shape, max_length=target.max_length)  # what a head was trained on is no limit
    files = HeadFiles(folder, shape, config.get("draft_vocab_size") or shape.vocab_size, target)
    layer = layer_weights(files.get, 0, shape.form)
    return Eagle3Weights(
        shape=shape,
        taps=taps_of(folder, config, target.shape.layers),
        normed=config.get("norm_before_residual", "speculators_model_type" in config),
        embedding=files.get(EMBEDDING) if EMBEDDING in files.names else target.embedding,
        fuse=files.get("fc.weight"),
        norm_token=layer.norm_attention,
        layer=replace(layer, norm_attention=files.get(NORM_STATE)),
        norm=files.get("norm.weight"),
        head=files.get("lm_head.weight"),
        to_target=files.to_target(),
    )


class HeadFiles:
    """The tensors of a head whose layer has this shape and that knows `known` tokens."""

    def __init__(self, folder: Path, shape: Shape, known: int, target: Llama) -> None:
        """Raises ValueError if they are not those of an EAGLE-3 head."""
        self.folder, self.target, self.known = folder, target, known
        self.files = TensorFiles(folder, target.device, target.dtype)
        self.names = {standard(name): name for name in self.files.file_of}
        self.sizes = head_sizes(shape, known)
        optional = {EMBEDDING, KNOWN} | ({OFFSETS} if known == shape.vocab_size else set())
        lacking, more = self.sizes.keys() - self.names - optional, self.names - self.sizes.keys()
        if lacking or more:
            found = f"lack {min(lacking)}" if lacking else f"have {min(more)}"
            raise ValueError(
                f"{folder}: the weights {found}: this is no EAGLE-3 head of the form that is "
                "known here (specdec_lib/drafters/eagle3.py says which)"
            )

    def get(self, name: str) -> Tensor:
        """A tensor by its name here. Raises ValueError if it has another size than config.json."""
        return require_size(name, self.files(self.names[name]), self.sizes[name], self.folder)

    def to_target(self) -> Tensor:
        """The target's number of each token (n,). Raises ValueError if a number is none or twice.

        The files hold by how much the target's is larger.
        """
        numbers = torch.arange(self.known, device=self.target.device)
        if OFFSETS in self.names:
            offsets = TensorFiles(self.folder, self.target.device, torch.long)(OFFSETS)
            numbers += require_size(OFFSETS, offsets, self.sizes[OFFSETS], self.folder)
        within = (numbers >= 0) & (numbers < self.target.vocab_size)
        if not within.all() or len(numbers.unique()) < self.known:
            raise ValueError(
                f"{self.folder}: {OFFSETS} maps the head's {self.known} tokens to numbers that are "
                f"not all different or not below {self.target.vocab_size}, the target's vocabulary"
            )
        return numbers


def standard(name: str) -> str:
    """The name of a tensor as the layer of a Llama has it."""
    for prefix in ("midlayer.", "layers.0."):
        if name.startswith(prefix):
            return LAYER + name.removeprefix(prefix)
    return name


def head_sizes(shape: Shape, known: int) -> dict[str, tuple[int, ...]]:
    """The tensors of a head by their names, and their sizes."""
    w, table = shape.width, (shape.vocab_size, shape.width)
    doubled = {f"{name}.weight" for name in QKV}
    layer = {
        name: (size[0], 2 * w) if name in doubled else size
        for name, size in layer_sizes(shape).items()
    }
    sizes = {f"{LAYER}{name}": size for name, size in layer.items()}
    sizes |= {NORM_STATE: (w,), "fc.weight": (w, 3 * w), "norm.weight": (w,)}
    sizes |= {"lm_head.weight": (known, w), EMBEDDING: table}
    return sizes | {OFFSETS: (known,), KNOWN: (shape.vocab_size,)}


def head_config(folder: Path) -> dict[str, Any]:
    """config.json of a head. That of vllm-project/speculators has the layer's in a part of it."""
    config = read_config(folder)
    return config | (config.get("transformer_layer_config") or {})


def require_fit(folder: Path, shape: Shape, target: Llama) -> None:
    """Raise ValueError unless a head of this shape reads the states and tokens of `target`."""
    if shape.layers != 1:
        raise ValueError(f"{folder}: a head of {shape.layers} layers; those of one are known here")
    pairs = {
        "hidden_size": (shape.width, target.shape.width),
        "vocab_size": (shape.vocab_size, target.shape.vocab_size),
    }
    for name, (found, needed) in pairs.items():
        if found != needed:
            raise ValueError(
                f"{folder}: {name} is {found}, and for this target it must be {needed}: "
                "load the head with the target that it was trained on"
            )


def taps_of(folder: Path, config: dict[str, Any], layers: int) -> tuple[int, ...]:
    """Into which layers go the states that a head reads, of a target of so many layers.

    Those of EAGLE's authors, which nearly all heads read. Where a head names layers, vLLM takes the
    numbers for those that the states go into, SGLang for those that they come out of. Raises
    ValueError if neither reading gives the usual ones.
    """
    usual = [2, layers // 2, layers - 3]
    named = config.get(AUXILIARY) or (config.get("eagle_config") or {}).get(AUXILIARY) or usual
    if layers < 7 or named not in (usual, [layer - 1 for layer in usual]):
        raise ValueError(
            f"{folder}: the head reads the states of layers {named}, and of a target of {layers} "
            f"layers only {usual} are known here: the libraries count others in two ways"
        )
    return tuple(usual)
