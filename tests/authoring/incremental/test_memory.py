"""What a check keeps of each file is taken back whole, from its owner alone, and by the engine that wrote it."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.authoring.check import find_verdict, judge
from specloom.authoring.incremental.memory import FileVerdict, Memory, load_memory, save_memory
from specloom.core.diagnostics import Diagnostic, Place
from tests.authoring.incremental.test_verdicts import build

ONE = Diagnostic("E110", Place("providers.d/a.yaml", 3, 4, 5), "there is no 'ä\ud800'", "did you mean…")
KEPT = Memory(
    {
        "provider a": FileVerdict("0f", frozenset({"capabilities", "lenses\tx"}), (ONE, ONE), head={"order": 3}),
        "examples a": FileVerdict("0f", frozenset(), (), (ONE,)),
        "file b": FileVerdict("1e", frozenset({"lenses\tx"})),
    },
    {"capabilities": ["mapping", ["b", "a"]], "lenses\tx": ["plain", {"tuple": [1, None, "ü"]}]},
)


def test_what_is_kept_comes_back_as_it_was(tmp_path: Path) -> None:
    save_memory(tmp_path / "kept", "engine 1", KEPT)

    assert load_memory(tmp_path / "kept", "engine 1") == KEPT


def test_another_engine_takes_nothing_of_it(tmp_path: Path) -> None:
    save_memory(tmp_path / "kept", "engine 1", KEPT)

    assert load_memory(tmp_path / "kept", "engine 2") == Memory()


@pytest.mark.skipif(os.name == "nt", reason="what is below a user's profile is that user's")
@pytest.mark.parametrize("which", ["kept", "."])
def test_nothing_is_taken_from_where_others_can_write(tmp_path: Path, which: str) -> None:
    save_memory(tmp_path / "kept", "engine 1", KEPT)

    (tmp_path / which).chmod(0o777)

    assert load_memory(tmp_path / "kept", "engine 1") == Memory()


@given(data=st.data())
def test_nothing_is_taken_of_what_is_damaged(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("cache") / "kept"
    save_memory(path, "engine 1", KEPT)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    how = data.draw(st.sampled_from(["cut", "flip", "more"]))

    damaged = {"cut": whole[:at], "flip": whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], "more": whole + b" "}
    path.write_bytes(damaged[how])

    assert load_memory(path, "engine 1") == Memory()


def _kept(cache: Path) -> Path:
    (path,) = cache.glob("check-*.files")
    return path


@pytest.mark.parametrize("damage", [b"", b"x", b"[]\n", b"0" * 64 + b"\n{}"])
def test_a_check_over_damage_checks_everything_and_mends_it(tmp_path: Path, damage: bytes) -> None:
    root, environ = build(tmp_path / "base"), {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    find_verdict([root], environ)
    whole = _kept(tmp_path / "cache").read_bytes()
    _kept(tmp_path / "cache").write_bytes(damage)
    tool = root / "tools.d/demo/ask.yaml"
    tool.write_text(tool.read_text(encoding="utf-8").replace("title: Ask", "titel: Ask"), encoding="utf-8")

    verdict = find_verdict([root], environ)

    assert verdict.diagnostics == judge([root]).diagnostics
    assert len(_kept(tmp_path / "cache").read_bytes()) > len(whole) // 2


@pytest.mark.skipif(os.name == "nt", reason="modes of folders mean nothing there")
def test_what_is_kept_is_its_owners_alone(tmp_path: Path) -> None:
    find_verdict([build(tmp_path / "base")], {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache")})

    assert [one.stat().st_mode & 0o077 for one in (tmp_path / "cache", _kept(tmp_path / "cache"))] == [0, 0]


def test_checks_of_two_houses_of_one_first_layer_that_run_at_once_are_both_right(tmp_path: Path) -> None:
    base, environ = build(tmp_path / "base"), {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    find_verdict([base], environ)
    layers = []
    for name in ("one", "two"):
        layer = tmp_path / name / "providers.d"
        layer.mkdir(parents=True)
        text = (base / "providers.d/alpha.yaml").read_text(encoding="utf-8")
        (layer / "alpha.yaml").write_text(text.replace("q: =args.query", f"{name}: =args.query"), encoding="utf-8")
        layers.append(layer.parent)
    rounds = [[base], [base, layers[0]], [base, layers[1]]] * 3

    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(3, mp_context=spawn) as pool:
        verdicts = list(pool.map(find_verdict, rounds, [environ] * len(rounds)))

    for roots, verdict in zip(rounds, verdicts, strict=True):
        assert verdict.diagnostics == judge(roots).diagnostics
    assert {len(one.diagnostics) for one in verdicts} == {2, 4}
