"""How much of a GPU's copy bandwidth plain decoding uses."""

from specdec_lib.measure.bench.sizes import bytes_a_step, size_for
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.limits import copy_bandwidth
from specdec_lib.measure.core.models import target
from specdec_lib.measure.core.runs import GREEDY
from specdec_lib.measure.core.timing import Spread, spread


def bandwidth_share(bench: Workbench, wanted: str) -> Spread:
    """Bytes that plain decoding reads a second, over the measured copy bandwidth, greedy.

    The steps are timed after the prompt, what the host does between them included.
    """
    size, (dtype,) = size_for(bench, wanted), bench.dtypes
    prompts, model = bench.prompts_for(GREEDY, dtype), target(size, dtype, bench.device)
    decode, shares, rates = bench.decoder(size, dtype, GREEDY), [], []
    decode(prompts[0])  # captures
    for prompt in prompts:
        generation, copied = decode(prompt), copy_bandwidth(bench.device)
        read = bytes_a_step(model, prompt, bench.tokens) * generation.target_passes
        rates.append(copied)
        shares.append(read / generation.seconds / copied)
    bench.notes.append(
        f"{bench.where(size)}, share of the copy bandwidth "
        f"({spread(rates).median / 1e9:,.0f} GB/s): {spread(shares)}; {bench.layers.reason}"
    )
    return spread(shares)
