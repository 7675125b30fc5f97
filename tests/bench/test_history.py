"""Figures have quartiles and budgets, a run that is recorded stays in the history, and the page shows it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import figures  # the benches are scripts and no package
import history
import pytest

ROOT = Path(__file__).parents[2]
RUN = history.Run("2026-11-24 01:00", "abcdef0123", "make bench", "3.11.7", "Linux x86_64", 2, 0.5)
CALLS = figures.Figure(
    "new calls", "calls a second", "calls/s", (40.0, 50.0, 60.0), (100.0, 100.0, 100.0), 0.6, True, beside="another 1.0"
)
MEMORY = figures.Figure("memory", "after calls", "MB", (41.0,), (30.0,), 40.0, beside="another 1.0", absolute=True)


# --- figures --------------------------------------------------------------------------------------------------------


def test_the_spread_of_rounds_is_their_quartiles() -> None:
    assert figures.to_spread((5.0, 1.0, 2.0, 4.0, 3.0)) == (2.0, 3.0, 4.0, 5)
    assert figures.to_spread((7.0,)) == (7.0, 7.0, 7.0, 1)
    assert figures.to_spread(()) is None


def test_ratios_are_taken_round_by_round() -> None:
    figure = figures.Figure("g", "n", "ms", (10.0, 40.0, 90.0), (10.0, 20.0, 30.0))

    assert figure.ratios() == (1.0, 2.0, 3.0)
    assert figure.judged == (1.5, 2.0, 2.5, 3)


@pytest.mark.parametrize(
    ("figure", "within"),
    [
        (CALLS, False),
        (replace(CALLS, budget=0.5), True),
        (replace(CALLS, at_least=False), True),
        (replace(CALLS, budget=None), None),
        (MEMORY, False),
        (replace(MEMORY, absolute=False), True),
        (replace(MEMORY, ours=()), None),
    ],
)
def test_a_budget_is_of_the_ratio_and_of_ours_where_it_is_absolute(figure: figures.Figure, within: bool | None) -> None:
    assert figure.within is within


def test_processor_time_is_a_figure_of_its_own_where_it_can_be_told() -> None:
    taken, other = figures.Taken(30.0, 20.0), figures.Taken(10.0, 5.0)

    wall, worked = figures.to_figures("commands", "list", [taken], [other], "python -c pass", 2.0)

    assert (wall.name, wall.ratios(), wall.within) == ("list", (3.0,), False)
    assert (worked.name, worked.ratios(), worked.within) == ("list, processor time", (4.0,), None)
    assert figures.to_figures("commands", "list", [figures.Taken(30.0)], [other], "python -c pass", 2.0) == [wall]


def test_the_table_says_what_the_ratio_its_quartiles_the_budget_and_that_it_is_missed() -> None:
    assert [" ".join(line.split()) for line in figures.lines([CALLS, MEMORY])] == [
        "",
        "new calls",
        "calls a second × 0.50 (0.45-0.55) ≥ 0.6 UNDER 50.0 : 100 calls/s (another 1.0)",
        "",
        "memory",
        "after calls 41.0 MB ≤ 40 OVER 41.0 : 30.0 MB (another 1.0)",
    ]


# --- the history ----------------------------------------------------------------------------------------------------


def test_rows_that_were_appended_are_read_back_behind_those_before(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    first, second = history.to_rows([CALLS, MEMORY], RUN), history.to_rows([CALLS], replace(RUN, commit="0123abcdef"))

    history.append_rows(first, path)
    history.append_rows(second, path)

    assert history.load_rows(path) == [*first, *second]
    assert [row.of for row in first] == ["ratio", "MB"]
    assert (first[0].value, first[0].q1, first[0].q3, first[0].rounds) == (0.5, 0.45, 0.55, 3)


def test_details_and_figures_that_nothing_stands_beside_are_no_rows() -> None:
    alone = figures.Figure("catalogue", "the list", "bytes", (100.0,))

    assert history.to_rows([alone, replace(CALLS, passing=True), replace(CALLS, ours=())], RUN) == []
    assert len(history.to_rows([replace(alone, budget=90.0)], RUN)) == 1


@pytest.mark.parametrize("line", ["otters", "{}", '{"group": "g"}', '["g"]'])
def test_a_line_that_is_no_row_is_quoted(tmp_path: Path, line: str) -> None:
    (tmp_path / "history.jsonl").write_text(f"{line}\n", encoding="utf-8")

    with pytest.raises(SystemExit, match=r"history\.jsonl has a line that is no row") as raised:
        history.load_rows(tmp_path / "history.jsonl")

    assert line in str(raised.value)


def test_the_page_shows_the_newest_figure_with_its_run_and_what_it_was_before() -> None:
    later = replace(CALLS, ours=(70.0, 80.0, 90.0))
    rows = history.to_rows([CALLS, MEMORY], RUN) + history.to_rows([later], replace(RUN, commit="0123abcdef", load=3.0))

    page = history.render(rows).splitlines()

    assert "| calls a second | another 1.0 | × 0.80 (0.75-0.85) | ≥ 0.6 | 80.0 : 100 calls/s | 0.50 | 2 |" in page
    assert "| after calls | another 1.0 | 41.0 MB | ≤ 40 **OVER** | 41.0 : 30.0 MB |  | 1 |" in page
    assert "| 1 | 2026-11-24 01:00 | abcdef0123 | make bench | 3.11.7 | 2 | 0.5 | Linux x86_64 |" in page
    assert "| 2 | 2026-11-24 01:00 | 0123abcdef | make bench | 3.11.7 | 2 | 3 | Linux x86_64 |" in page


def test_another_version_beside_us_is_another_figure() -> None:
    rows = history.to_rows([CALLS, replace(CALLS, beside="another 2.0")], RUN)

    page = history.render(rows)

    assert page.count("| calls a second | another 1.0 |") == page.count("| calls a second | another 2.0 |") == 1


def test_the_page_in_the_repository_is_that_of_its_rows_and_one_that_is_not_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["history.py", "--check"])
    assert history.main() == 0

    (tmp_path / "figures.md").write_text(history.render([]) + "by hand\n", encoding="utf-8")
    monkeypatch.setattr(history, "PAGE", tmp_path / "figures.md")

    assert history.main() == 1
    assert "run `make docs`" in capsys.readouterr().err


def test_a_commit_is_named_with_a_mark_where_files_were_changed_since(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=otter", "-c", "user.email=otter@example.org", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True).stdout.strip()

    git("init", "--quiet")
    (tmp_path / "bench").mkdir()
    for name in ("file", "bench/history.jsonl"):
        (tmp_path / name).write_text("a", encoding="utf-8")
    git("add", ".")
    git("commit", "--quiet", "--message", "a")
    for name in ("other", "bench/history.jsonl"):
        (tmp_path / name).write_text("b", encoding="utf-8")

    clean = history.find_commit(tmp_path)
    (tmp_path / "file").write_text("b", encoding="utf-8")

    assert git("rev-parse", "HEAD").startswith(clean)
    assert len(clean) == 10
    assert history.find_commit(tmp_path) == f"{clean}+"
    assert history.find_commit(tmp_path / "nowhere") == ""
