"""Known wrong answers of chapter 00, each with its refutation."""

import numpy as np

from autograde.chapters.parametrized import Misconceptions

WRONG = Misconceptions()

arithmetic_intensity = WRONG.exercise("arithmetic_intensity")


@arithmetic_intensity.wrong(
    think="a multiplication and an addition are one operation.",
    because="data sheets count them as two FLOP, so a pass counted by one looks half as long.",
)
def one_flop(n_tokens, bytes_per_param):
    return n_tokens / bytes_per_param


@arithmetic_intensity.wrong(
    think="the weights are read again for every token.",
    because="the tokens of a pass share one reading; that is why checking is cheap.",
)
def read_for_every_token(n_tokens, bytes_per_param):
    return 2 / bytes_per_param


@arithmetic_intensity.wrong(
    think="it is bytes per FLOP.",
    because="the intensity says how much is calculated with each byte, so the bytes divide.",
)
def upside_down(n_tokens, bytes_per_param):
    return bytes_per_param / (2 * n_tokens)


@arithmetic_intensity.wrong(
    think="a whole number is exact enough.",
    because="it drops the fraction: one token in float32 would calculate nothing at all.",
)
def whole_numbers_only(n_tokens, bytes_per_param):
    return 2 * n_tokens // bytes_per_param


@arithmetic_intensity.form_of(whole_numbers_only)
def whole_numbers_as_floats(n_tokens, bytes_per_param):
    return float(2 * n_tokens // bytes_per_param)


@arithmetic_intensity.wrong(
    think="every token looks at every other, so the FLOP grow with the square of their number.",
    because="the weights are applied to each token alone; only attention compares tokens, and it "
    "is not counted here.",
)
def squared_tokens(n_tokens, bytes_per_param):
    return 2 * n_tokens**2 / bytes_per_param


@arithmetic_intensity.wrong(
    think="larger parameters mean more FLOP per byte.",
    because="a parameter of four bytes is used once, as one of two bytes is: the bytes divide.",
)
def bytes_multiplied(n_tokens, bytes_per_param):
    return float(2 * n_tokens * bytes_per_param)


forward_time = WRONG.exercise("forward_time")


@forward_time.wrong(
    think="the machine reads first and calculates then, so the two times add up.",
    because="while one weight is multiplied the next is on its way: the longer of the two counts.",
)
def added(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    return n_params * bytes_per_param / bandwidth + 2 * n_tokens * n_params / peak_flops


@forward_time.wrong(
    think="the pass is over when the faster part is done.",
    because="both jobs have to be finished, so the slower one decides.",
)
def the_smaller(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    return min(n_params * bytes_per_param / bandwidth, 2 * n_tokens * n_params / peak_flops)


@forward_time.wrong(
    think="a pass is always memory-bound.",
    because="with enough tokens the arithmetic takes longer than the reading.",
)
def reading_only(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    return n_params * bytes_per_param / bandwidth


@forward_time.wrong(
    think="only the arithmetic takes time.",
    because="a pass over few tokens waits for its weights most of the time.",
)
def calculating_only(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    return 2 * n_tokens * n_params / peak_flops


@forward_time.wrong(
    think="n tokens need the weights n times.",
    because="that is writing n tokens; a pass over n tokens reads each weight once.",
    same_as=read_for_every_token,
)
def read_n_times(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    reading = n_tokens * n_params * bytes_per_param / bandwidth
    return max(reading, 2 * n_tokens * n_params / peak_flops)


@forward_time.wrong(
    think="one FLOP per parameter and token is enough.",
    because="a multiplication and an addition are two, and the peak of a data sheet counts both.",
    same_as=one_flop,
)
def half_the_flop(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    return max(n_params * bytes_per_param / bandwidth, n_tokens * n_params / peak_flops)


@forward_time.wrong(
    think="bandwidth counts parameters.",
    because="it counts bytes, and a parameter has several of them.",
)
def bytes_forgotten(n_tokens, n_params, bytes_per_param, bandwidth, peak_flops):
    return max(n_params / bandwidth, 2 * n_tokens * n_params / peak_flops)


free_tokens = WRONG.exercise("free_tokens")


@free_tokens.wrong(
    think="one FLOP per parameter and token is enough.",
    because="there are two, so the arithmetic fills the reading time with half as many tokens.",
    same_as=half_the_flop,
)
def two_forgotten(bytes_per_param, bandwidth, peak_flops):
    return max(1, int(bytes_per_param * peak_flops / bandwidth))


@free_tokens.wrong(
    think="the format of the weights does not matter, only the two limits.",
    because="peak over bandwidth is the answer for two bytes alone; with fewer bytes the reading "
    "ends sooner.",
)
def format_ignored(bytes_per_param, bandwidth, peak_flops):
    return max(1, int(peak_flops / bandwidth))


@free_tokens.wrong(
    think="smaller weights leave more tokens free.",
    because="they are read sooner, so less arithmetic fits into that time.",
)
def format_upside_down(bytes_per_param, bandwidth, peak_flops):
    return max(1, int(2 * peak_flops / (bytes_per_param * bandwidth)))


@free_tokens.wrong(
    think="the number is rounded up.",
    because="the token that does not fit completely makes the pass longer.",
)
def rounded_up(bytes_per_param, bandwidth, peak_flops):
    return max(1, int(np.ceil(bytes_per_param * peak_flops / (2 * bandwidth))))


@free_tokens.wrong(
    think="the token that makes the pass longer is the one asked for.",
    because="it is the first that is not free: the answer is one less.",
)
def first_that_is_not_free(bytes_per_param, bandwidth, peak_flops):
    return int(bytes_per_param * peak_flops / (2 * bandwidth)) + 1


@free_tokens.wrong(
    think="the number is rounded to the nearest whole number.",
    because="3.75 would become 4, and the fourth token makes the pass longer. It is rounded down.",
)
def rounded_to_nearest(bytes_per_param, bandwidth, peak_flops):
    return max(1, round(bytes_per_param * peak_flops / (2 * bandwidth)))


@free_tokens.wrong(
    think="where the arithmetic is slow, no token is free.",
    because="a pass over one token takes no longer than itself, so one always is.",
)
def none_free(bytes_per_param, bandwidth, peak_flops):
    return int(bytes_per_param * peak_flops / (2 * bandwidth))


@free_tokens.wrong(
    think="// gives a whole number.",
    because="of two floats it gives a float, and tokens are counted with an int.",
)
def still_a_float(bytes_per_param, bandwidth, peak_flops):
    return max(1.0, bytes_per_param * peak_flops // (2.0 * bandwidth))


@free_tokens.wrong(
    think="a token that makes both times equal is one too many.",
    because="the pass then takes exactly as long as over one token, which is no longer.",
)
def strictly_shorter(bytes_per_param, bandwidth, peak_flops):
    return max(1, int(np.ceil(bytes_per_param * peak_flops / (2 * bandwidth))) - 1)


@free_tokens.wrong(
    think="the free tokens are those on top of the first.",
    because="the number counts all tokens of the pass, the first one too.",
)
def first_not_counted(bytes_per_param, bandwidth, peak_flops):
    return max(1, int(bytes_per_param * peak_flops / (2 * bandwidth))) - 1


kv_cache_bytes = WRONG.exercise("kv_cache_bytes")


@kv_cache_bytes.wrong(
    think="the cache holds one vector per head and token.",
    because="it holds two, a key and a value.",
)
def keys_only(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    return n_tokens * n_layers * n_kv_heads * head_dim * bytes_per_value * batch_size


@kv_cache_bytes.wrong(
    think="the rows of a batch share the cache.",
    because="they share the weights; each row has a text, and so keys and values, of its own.",
)
def shared_by_rows(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    return 2 * n_tokens * n_layers * n_kv_heads * head_dim * bytes_per_value


@kv_cache_bytes.wrong(
    think="one layer is enough.",
    because="every layer has keys and values of its own.",
)
def one_layer(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    return 2 * n_tokens * n_kv_heads * head_dim * bytes_per_value * batch_size


@kv_cache_bytes.wrong(
    think="the cache holds a number for each pair of tokens.",
    because="those are the attention weights, which are not kept; a token has one key and value.",
)
def a_number_for_each_pair(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    return 2 * n_tokens**2 * n_layers * n_kv_heads * head_dim * bytes_per_value * batch_size


@kv_cache_bytes.wrong(
    think="all heads share one key and one value.",
    because="every key-value head keeps its own; sharing goes as far as n_kv_heads says.",
)
def one_head(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    return 2 * n_tokens * n_layers * head_dim * bytes_per_value * batch_size


@kv_cache_bytes.wrong(
    think="a key is one number per head.",
    because="it is a vector of head_dim numbers.",
)
def width_forgotten(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    return 2 * n_tokens * n_layers * n_kv_heads * bytes_per_value * batch_size


@kv_cache_bytes.wrong(
    think="counting the numbers is counting the bytes.",
    because="each number takes bytes_per_value bytes.",
)
def numbers_not_bytes(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value, batch_size=1):
    return 2 * n_tokens * n_layers * n_kv_heads * head_dim * batch_size


pass_time = WRONG.exercise("pass_time")


@pass_time.wrong(
    think="the rows of a batch share one cache.",
    because="every row has a text of its own, so its cache is read beside those of the others.",
    same_as=shared_by_rows,
)
def cache_of_one_row(
    n_tokens, batch, context, n_params, bytes_per_param, kv_bytes_per_token, bandwidth, peak_flops
):
    reading = (n_params * bytes_per_param + context * kv_bytes_per_token) / bandwidth
    calculating = 2 * n_tokens * batch * n_params / peak_flops
    return max(reading, calculating)


@pass_time.wrong(
    think="only the weights are read.",
    because="attention looks back at every token of the text, so the caches are read in every "
    "pass.",
)
def cache_forgotten(
    n_tokens, batch, context, n_params, bytes_per_param, kv_bytes_per_token, bandwidth, peak_flops
):
    reading = n_params * bytes_per_param / bandwidth
    calculating = 2 * n_tokens * batch * n_params / peak_flops
    return max(reading, calculating)


@pass_time.wrong(
    think="each new token reads the cache again.",
    because="the new tokens of a row go through the same pass and share one reading of its cache.",
)
def cache_for_every_token(
    n_tokens, batch, context, n_params, bytes_per_param, kv_bytes_per_token, bandwidth, peak_flops
):
    caches = n_tokens * batch * context * kv_bytes_per_token
    reading = (n_params * bytes_per_param + caches) / bandwidth
    calculating = 2 * n_tokens * batch * n_params / peak_flops
    return max(reading, calculating)


@pass_time.wrong(
    think="every row reads the weights for itself.",
    because="all rows go through one pass, which reads each weight once for all of them.",
)
def weights_for_every_row(
    n_tokens, batch, context, n_params, bytes_per_param, kv_bytes_per_token, bandwidth, peak_flops
):
    reading = batch * (n_params * bytes_per_param + context * kv_bytes_per_token) / bandwidth
    calculating = 2 * n_tokens * batch * n_params / peak_flops
    return max(reading, calculating)


@pass_time.wrong(
    think="the rows calculate in the time of one.",
    because="the peak is that of the whole machine, and every row's tokens need their FLOP "
    "from it.",
)
def one_row_calculates(
    n_tokens, batch, context, n_params, bytes_per_param, kv_bytes_per_token, bandwidth, peak_flops
):
    reading = (n_params * bytes_per_param + batch * context * kv_bytes_per_token) / bandwidth
    calculating = 2 * n_tokens * n_params / peak_flops
    return max(reading, calculating)


@pass_time.wrong(
    think="reading and calculating follow one another.",
    because="they go on at the same time, so the longer of the two is the time of the pass.",
    same_as=added,
)
def both_added(
    n_tokens, batch, context, n_params, bytes_per_param, kv_bytes_per_token, bandwidth, peak_flops
):
    reading = (n_params * bytes_per_param + batch * context * kv_bytes_per_token) / bandwidth
    calculating = 2 * n_tokens * batch * n_params / peak_flops
    return reading + calculating


@pass_time.wrong(
    think="the cache grows by numbers that have bytes_per_param bytes each.",
    because="kv_bytes_per_token is in bytes already, whatever the format of the weights.",
)
def values_not_bytes(
    n_tokens, batch, context, n_params, bytes_per_param, kv_bytes_per_token, bandwidth, peak_flops
):
    caches = batch * context * kv_bytes_per_token * bytes_per_param
    reading = (n_params * bytes_per_param + caches) / bandwidth
    calculating = 2 * n_tokens * batch * n_params / peak_flops
    return max(reading, calculating)


@pass_time.wrong(
    think="the new tokens are in the cache when the pass reads it.",
    because="the context is what the cache holds before the pass; what the pass adds is not "
    "counted.",
)
def new_tokens_in_cache(
    n_tokens, batch, context, n_params, bytes_per_param, kv_bytes_per_token, bandwidth, peak_flops
):
    caches = batch * (context + n_tokens) * kv_bytes_per_token
    reading = (n_params * bytes_per_param + caches) / bandwidth
    calculating = 2 * n_tokens * batch * n_params / peak_flops
    return max(reading, calculating)
