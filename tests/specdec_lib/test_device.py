"""The device that models run on: its memory and its dtype."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from specdec_lib import device
from specdec_lib.assets import ASSETS
from specdec_lib.models.llama import Llama

CPU = torch.device("cpu")


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the control groups on a system with 321 kB of memory to be had."""
    memory = SimpleNamespace(available=321 * 1024)
    monkeypatch.setattr(device.psutil, "virtual_memory", lambda: memory)
    monkeypatch.setattr(device, "CGROUP", tmp_path)
    (tmp_path / "memory").mkdir()
    return tmp_path


def test_free_memory_is_what_the_system_calls_available(linux: Path):
    assert device.free_memory(CPU) == 321 * 1024


@pytest.mark.parametrize("limit_file, used_file", device.CGROUP_FILES)
@pytest.mark.parametrize(
    "limit, used, free",
    [("max", 500, 321 * 1024), ("1000", 500, 530), ("999999", 0, 321 * 1024), ("100", 500, 0)],
)
def test_a_containers_limit_leaves_less_memory_and_its_cache_counts_as_free(
    linux: Path, limit_file: str, used_file: str, limit: str, used: int, free: int
):
    (linux / limit_file).write_text(f"{limit}\n")
    (linux / used_file).write_text(f"{used}\n")
    stat = (linux / limit_file).with_name("memory.stat")
    stat.write_text("anon 470\ninactive_file 20\nactive_file 10\n")
    assert device.free_memory(CPU) == free


@pytest.mark.parametrize(
    "capability, dtype",
    [((7, 5), torch.float16), ((8, 0), torch.bfloat16), ((9, 0), torch.bfloat16)],
)
def test_the_default_dtype_follows_the_device(monkeypatch, capability: tuple[int, int], dtype):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert device.default_dtype(torch.device("cuda")) == dtype
    assert device.default_dtype(CPU) == torch.float32


def test_a_pass_needs_no_plan_for_every_new_shape_and_the_setting_comes_back():
    model, tokens = Llama.from_folder(ASSETS / "small"), torch.tensor([[1]])
    setting, during = torch.backends.cuda.cudnn_sdp_enabled, list[bool]()
    model.forward(tokens, model.new_cache(), observe=lambda hidden: during.append(setting()))
    assert during == [False] and setting()


@pytest.mark.parametrize(
    "cores, before, after", [(8, 8, 4), (3, 3, 2), (2, 2, 2), (1, 1, 1), (8, 1, 1)]
)
def test_half_of_the_cores_are_two_at_least_and_never_more_than_torch_had(
    cores: int, before: int, after: int, monkeypatch: pytest.MonkeyPatch
):
    threads = [before]
    monkeypatch.setattr(device, "cores", lambda: cores)
    monkeypatch.setattr(device.torch, "get_num_threads", lambda: threads[-1])
    monkeypatch.setattr(device.torch, "set_num_threads", threads.append)
    assert device.use_half_the_cores() == threads[-1] == after
