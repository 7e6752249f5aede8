"""`specdec doctor`: the verdict, and one line for each finding."""

from types import SimpleNamespace

import pytest
import torch

from specdec_lib.measure import doctor


def test_the_verdict_is_first_and_there_is_a_line_for_each_finding():
    first, *names = (line.partition(":")[0] for line in doctor.doctor_lines())
    assert first.startswith(("This machine is enough", "Chapter"))
    assert names[:6] == ["Processor", "Memory", "torch", "Card", "transformers", "smollm2-135m"]
    assert names[6].startswith("Published pairs that fit") and len(names) == 7


def test_the_verdict_says_what_is_missing_and_what_to_do():
    assert doctor.verdict(3e9, "transformers==5").endswith(" enough for every chapter.")
    assert "2.9 GB are free here: close" in doctor.verdict(2.9e9, "transformers==5")
    assert 'run `pip install -e ".[course]"`' in doctor.verdict(3e9, "no transformers")


def test_card_is_named_with_its_memory(monkeypatch: pytest.MonkeyPatch):
    found = SimpleNamespace(name="H100", total_memory=80e9)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: found)
    assert doctor.card(torch.device("cuda")) == "H100, 80 GB"
    assert doctor.card(torch.device("cpu")).startswith("none")


def test_pairs_fit_by_their_card():
    fit = doctor.pairs_that_fit(24e9)
    assert "vicuna (13.8 GB)" in fit and len(fit) == 5
    assert doctor.pairs_that_fit(1e9) == [] and len(doctor.pairs_that_fit(None)) == 8
