#!/bin/sh
# transformers 5.23.0: with a draft of another tokenizer, sampled assisted generation (`generate` with
# `assistant_model`, `tokenizer` and `assistant_tokenizer`) hands the acceptance rule the draft's
# probabilities in the order of `assistant_tokenizer.get_vocab()`, and the rule reads them by token id. The
# order of a fast tokenizer's `get_vocab()` is that of a hash table and usually new at each call. So a draft
# token is judged by the probability of another one, and the text does not have the target's distribution.
#
# Seen on 2026-11-28 with tokenizers 0.23.3: of ten loadings of one draft, whose probabilities of the five
# shared words are 0.1, 0.2, 0.3, 0.4 and 0 by id, all ten reported another order, such as 0.2, 0.4, 0.1, 0.3,
# 0. With a `get_vocab()` that lists the words by id, the reported order was right ten times of ten.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 tokenizers==0.23.3 numpy
"$folder/venv/bin/python" - <<'P'
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.generation import utils

WORDS, Q = ["a", "b", "c", "d", "start", "own"], [0.1, 0.2, 0.3, 0.4, 0.0]
reported = []
rule = utils._speculative_sampling


def listening(tokens, logits, *rest, **options):
    """The library's rule, which also keeps the distribution that it is given for the first token."""
    reported.append([round(q, 3) for q in logits[0, 0].softmax(-1)[:5].tolist()])
    return rule(tokens, logits, *rest, **options)


def words(count):
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS[:count])}))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def llama(probs):
    """A Llama that gives `probs` after every token."""
    config = LlamaConfig(
        vocab_size=len(probs), hidden_size=2, intermediate_size=2, num_hidden_layers=1,
        num_attention_heads=1, eos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    for weight in model.parameters():
        weight.data.zero_()
    model.model.norm.weight.data[:] = 1.0
    model.model.embed_tokens.weight.data[:] = 1.0
    model.lm_head.weight.data[:, 0] = torch.tensor(probs).clamp(min=1e-9).log()
    return model


def first_report(by_id):
    """What the rule is given in one new loading of both tokenizers and models."""
    draft_words = words(6)
    if by_id:
        draft_words.get_vocab = lambda: {word: i for i, word in enumerate(WORDS)}
    reported.clear()
    llama([0.25, 0.25, 0.25, 0.25, 0.0]).generate(
        torch.tensor([[4, 0]]), attention_mask=torch.ones(1, 2, dtype=torch.long), do_sample=True,
        max_new_tokens=2, assistant_model=llama([*Q, 0.0]), tokenizer=words(5),
        assistant_tokenizer=draft_words, pad_token_id=0,
    )
    return reported[0]


utils._speculative_sampling = listening
utils.logger.setLevel("ERROR")
seen = [first_report(by_id=False) for _ in range(10)]
listed = [first_report(by_id=True) for _ in range(10)]
print("by id the draft has", Q)
print("reported:", *seen, sep="\n  ")
print("reported, vocabulary listed by id:", listed[0], "ten times" if listed == [listed[0]] * 10 else listed)
assert all(sorted(q) == sorted(Q) for q in seen + listed), "the behaviour has changed"
assert any(q != Q for q in seen) and all(q == Q for q in listed), "the behaviour has changed"
P
echo "transformers 5.23.0 behaves as described"
