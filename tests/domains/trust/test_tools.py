"""The trust tools as they are called: right on the gold set, bounded, and never without an answer."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trust_replay
import yaml
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.core.messages import Answer, Request, Response
from specloom.domains.trust.sources.links import archive
from specloom.runtime.executor import Executor
from tests.support.shipped import shipped_model

ROOT = Path(__file__).parents[3]


# --- the gold set ---


@pytest.fixture(scope="module")
def outcomes() -> list[Any]:
    return asyncio.run(trust_replay.replay(shipped_model()))


@pytest.fixture(scope="module")
def scores(outcomes: list[Any]) -> dict[str, Any]:
    return {score.measure: score for score in trust_replay.to_scores(outcomes)}


def test_no_accusation_of_the_gold_set_is_false(scores: dict[str, Any]) -> None:
    assert {name: scores[name].wrong for name in trust_replay.ACCUSATIONS} == dict.fromkeys(trust_replay.ACCUSATIONS, 0)


def test_no_measure_falls_below_its_floor(scores: dict[str, Any]) -> None:
    floors = yaml.safe_load((ROOT / "tests" / "corpus" / "gold" / "floors.yaml").read_text(encoding="utf-8"))

    assert set(floors) == set(scores)
    for name, floor in floors.items():
        score = scores[name]
        assert score.cases >= floor["cases"], name
        assert score.right >= floor["right"], name
        assert score.wrong <= floor["wrong"], name


@pytest.fixture
def checked(outcomes: list[Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the bench replays, so that `--check` runs without replaying it once more."""
    told = list(outcomes)

    async def replay(_model: object) -> list[Any]:
        return told

    monkeypatch.setattr(trust_replay, "replay", replay)
    monkeypatch.setattr(trust_replay, "weave_from", lambda _: (shipped_model(), None))
    return told


def test_the_page_shows_the_figures_of_today(checked: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert checked
    assert trust_replay.main(["--check"]) == 0, capsys.readouterr().err


def test_a_page_with_other_figures_does_not_pass(
    checked: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "trust.md"
    text = trust_replay.DOCS.read_text(encoding="utf-8")
    page.write_text(text.replace("| existence | 298 |", "| existence | 297 |"), encoding="utf-8")
    monkeypatch.setattr(trust_replay, "DOCS", page)

    assert checked
    assert trust_replay.main(["--check"]) == 1
    assert "run python bench/trust_replay.py --write" in capsys.readouterr().err
    assert trust_replay.main(["--write"]) == 0
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("measure", trust_replay.ACCUSATIONS)
def test_a_single_false_accusation_does_not_pass(
    checked: list[Any], measure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "trust.md"
    page.write_text(trust_replay.DOCS.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(trust_replay, "DOCS", page)
    assert measure in {each.measure for each in checked}

    checked.append(trust_replay.Outcome(measure, "planted", expected=False, found=True))

    assert trust_replay.main(["--write"]) == 1, "not even with figures that say so"
    assert trust_replay.main(["--check"]) == 1


# --- how much is asked at once ---


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next callback instead of waiting for it."""

    def __init__(self) -> None:
        super().__init__()
        self._virtual = 0.0

    def time(self) -> float:
        return self._virtual

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self._virtual = max(self._virtual, self._scheduled[0]._when)  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


class Upstream:
    """Answers every request after 200 ms, and counts how many are under way for each kind of host."""

    def __init__(self) -> None:
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()

    async def send(self, request: Request) -> Response:
        host = request.url.split("/")[2]
        kind = host if host.startswith("api.") or host == "www.ebi.ac.uk" else "pages"
        self.sent[kind] += 1
        self.under_way[kind] += 1
        self.most[kind] = max(self.most[kind], self.under_way[kind])
        await asyncio.sleep(0.2)
        self.under_way[kind] -= 1
        if kind == "pages":
            return Response(200, {"content-type": "text/html"}, b"", request.url)
        if kind == "www.ebi.ac.uk":
            return Response(200, {"content-type": "application/json"}, b'{"hitCount":0,"resultList":{"result":[]}}')
        wanted = dict(request.query)["filter"]
        assert isinstance(wanted, str)
        items = [{"DOI": part.removeprefix("doi:"), "title": ["How otters swim"]} for part in wanted.split(",")]
        body = json.dumps({"message": {"items": items}}).encode()
        return Response(200, {"content-type": "application/json"}, body, request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


def test_two_hundred_entries_take_seconds_and_never_ask_more_at_once_than_declared() -> None:
    upstream, told, loop = Upstream(), [], VirtualLoop()
    entries = [
        {"doi": f"10.1234/otters.{at}", "url": f"https://host{at}.example.org/{at}", "title": "How otters swim"}
        for at in range(200)
    ]

    async def work() -> dict[str, Any]:
        executor = Executor(
            shipped_model(), environ={"CROSSREF_EMAIL": "ann@example.org"}, sender=upstream, validate=True
        )
        try:
            done = await executor.call(
                "audit_bibliography", {"entries": entries}, progress=lambda at, of, _: told.append((at, of))
            )
            return done.answer
        finally:
            await executor.aclose()

    try:
        answer = loop.run_until_complete(work())
        elapsed = loop.time()
    finally:
        loop.close()

    assert answer["summary"]["ok"] == 200
    assert elapsed < 8.0
    assert upstream.most["pages"] == 8
    assert upstream.most["api.crossref.org"] <= 3
    sent = {"pages": 200, "api.crossref.org": 10, "www.ebi.ac.uk": 2}
    assert upstream.sent == sent, "DOIs are asked for many at a time"
    assert [at for at, _ in told] == sorted(at for at, _ in told)
    assert told[-1] == (400, 400)


class SlowArchive:
    """A context whose archive never ends a capture, and has no earlier copy."""

    allow_private = False

    def offering(self, operation: str) -> tuple[str, ...]:
        return ("spn2",) if operation == "archive" else ()

    def tell(self, done: float, total: float | None, message: str) -> None:
        """Nobody listens."""

    def notice(self, sentence: str) -> None:
        """Nobody reads it."""

    def lack(self, operation: str, fault: Fault, *, instead: str = "") -> None:
        """Nobody reads it."""

    async def ask(self, operation: str, arguments: Mapping[str, Any], *, provider: str = "") -> Answer:
        if operation == "archive":
            await asyncio.sleep(3600)
        return Answer()


def test_a_capture_that_does_not_end_is_pending_after_twenty_five_seconds() -> None:
    loop = VirtualLoop()
    try:
        told = loop.run_until_complete(archive(SlowArchive(), "https://otters.example/a"))  # type: ignore[arg-type]
        elapsed = loop.time()
    finally:
        loop.close()

    assert (told.status, told.captured, elapsed) == ("pending", False, 25.0)
    assert told.poll_url == "https://web.archive.org/web/*/https://otters.example/a"


# --- whatever is asked has an answer ---

TEXTS = st.text(max_size=60) | st.sampled_from(
    [
        "10.1234/otters",
        "https://otters.example/",
        "PMID: 123",
        "ISBN 9780134685991",
        "410 U.S. 113",
        "NCT01234567",
        "RFC 1",
    ]
)


@given(TEXTS, TEXTS)
def test_any_citation_has_an_answer_or_is_refused_in_a_sentence(one: str, two: str) -> None:
    try:
        said = asyncio.run(
            trust_replay.call(shipped_model(), "verify_citation", {"citation": f"{one} {two}"}, trust_replay.World())
        )
    except Fault as fault:
        assert fault.kind == "validation", fault.message  # noqa: PT017 - both ways to end are fine
        return

    assert said["exists"] is False
    assert said["verificationStatus"] in {"not_found", "uncertain", "unchecked"}


FIELDS = st.dictionaries(st.sampled_from(["url", "title", "author", "site", "date", "doi"]), TEXTS)


@given(st.lists(FIELDS, min_size=1, max_size=5))
def test_any_entries_are_audited_each_with_a_flag_and_a_reason(entries: list[dict[str, str]]) -> None:
    try:
        said = asyncio.run(
            trust_replay.call(shipped_model(), "audit_bibliography", {"entries": entries}, trust_replay.World())
        )
    except Fault as fault:
        assert fault.kind == "validation", fault.message  # noqa: PT017 - both ways to end are fine
        return

    assert said["entryCount"] == len(entries)
    assert all(entry["flags"] and entry["reason"] for entry in said["entries"])
    assert said["summary"]["ok"] == 0
