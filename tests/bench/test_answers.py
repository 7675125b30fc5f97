"""How the benchmark of answers judges a text, on sentences made by hand; how good answers are is not looked at."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import judge as bench  # the benches are scripts and no package
import pytest
import upstreams
import verdict


def is_found(text: str, *near: str) -> bool:
    return bool(verdict.find_answers(verdict.to_words(text), near))


def told(
    way: str = "read_more", *, found: bool = True, text: str = "otters", everything: str = "otters eat"
) -> bench.Told:
    return bench.Told(way, "kept", "x", found, cut=False, whole=True, text=text, everything=everything)


@pytest.mark.parametrize(
    "text",
    [
        "A mother has two pups.",
        "A **mother** has [two](https://example.org/2_(b)) `pups`.",
        "| a Mother | two |\n|---|---|\n| x | pups, |",
        "mother and two\n\n- pups",
    ],
)
def test_an_answer_is_found_whatever_markdown_is_around_its_words(text: str) -> None:
    assert is_found(text, "mother", "two", "pups")


@pytest.mark.parametrize(
    "text",
    [
        "A mother has three pups.",
        "A mother has twofold pups.",
        "A [mother](https://example.org/two) has pups.",
        f"A mother. {'Otters eat fish. ' * 30} Two pups.",
    ],
)
def test_words_in_addresses_in_other_words_or_far_away_are_no_answer(text: str) -> None:
    assert not is_found(text, "mother", "two", "pups")


def test_a_star_takes_the_beginning_of_a_word_and_scripts_without_blanks_need_no_ends_of_words() -> None:
    assert is_found("Die Ottern fressen Fische.", "fisch*")
    assert not is_found("Die Ottern fressen Fische.", "fisch")
    assert is_found("水獭每天吃很多鱼。", "每天", "鱼")


def test_signs_of_markdown_and_addresses_are_told_from_words() -> None:
    assert verdict.without_signs("**Otters** [eat](https://example.org/fish) fish").split() == ["Otters", "eat", "fish"]


def test_the_questions_are_two_hundred_in_two_halves_and_none_has_its_answer_in_itself() -> None:
    questions = bench.load_questions()

    assert len({row["id"] for row in questions}) == len(questions) == 200
    halves = Counter(row["half"] for row in questions)
    assert set(halves) == {"tuned", "kept"}
    assert min(halves.values()) >= 99
    assert not [row["id"] for row in questions if bench.has_answer(row["ask"], row)]
    assert not [row["id"] for row in questions if not row["near"] or not row["answer"]]
    sides = Counter((row.get("page") or row["payload"], row["half"]) for row in questions)
    assert len({source for source, _ in sides}) == len(sides), "a source is in both halves"


def test_a_page_is_asked_for_among_two_others_and_the_same_ones_each_time() -> None:
    questions = bench.load_pages()[:9]

    company = bench.choose_company(questions)

    assert company == bench.choose_company(questions)
    for row in questions:
        assert row["page"] in company[row["id"]]
        assert len(set(company[row["id"]])) == 3


def test_a_figure_below_its_floor_is_told_and_floors_only_rise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    floors = tmp_path / "floors.json"
    monkeypatch.setattr(bench, "FLOORS", floors)
    good = bench.sum_up([told(), told(text="otters eat fish", everything="otters eat fish " * 9)], None)
    poor = bench.sum_up([told(), told(found=False)], None)

    assert bench.check(good, lift=True) == []
    before = json.loads(floors.read_text(encoding="utf-8"))
    low = bench.check(poor, lift=True)

    assert "read_more kept found of whole: 0.500 is below its floor 0.995" in low
    assert json.loads(floors.read_text(encoding="utf-8")) == before


def test_a_provider_of_the_bench_asks_its_own_host_on_this_machine(tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "otter.yaml").write_text(
        "name: otter\nservice:\n  base: https://api.example.org/v1\n  limits: {rate: 1/s}\noperations: {}\n",
        encoding="utf-8",
    )

    environ = upstreams.write_layer(tmp_path / "layer", specs, "http://127.0.0.1:1")

    assert environ["BENCH_OTTER_URL"] == "http://127.0.0.1:1/otter"
    written = (tmp_path / "layer" / "providers.d" / "otter.yaml").read_text(encoding="utf-8")
    assert "  base: =config.BENCH_OTTER_URL\n  private: true\n" in written
    assert "example.org" not in written
