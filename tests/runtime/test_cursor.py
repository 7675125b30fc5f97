"""Answers that are gone on with: every row once, nobody else's pages, and nothing asked for that is there already."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from specloom.cache.cache import AnswerCache
from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.runtime.executor import Executor
from tests.support.shipped import shipped_model

TOTAL = 137
SETTINGS = {
    "OPENALEX_EMAIL": "me@example.org",
    "BRAVE_API_KEY": "k",
    "GOOGLE_CUSTOM_SEARCH_API_KEY": "k",
    "GOOGLE_CUSTOM_SEARCH_ID": "e",
}


def _rows(first: int, size: int, total: int) -> range:
    return range(first, min(first + size, total))


def openalex(query: dict[str, str], total: int) -> Any:
    size, page = int(query["per_page"]), int(query.get("page", 1))
    found = [
        {"id": f"https://openalex.org/W{one}", "title": f"Work {one}"} for one in _rows((page - 1) * size, size, total)
    ]
    return {"meta": {"count": total, "per_page": size}, "results": found}


def crossref(query: dict[str, str], total: int) -> Any:
    rows = _rows(int(query.get("offset", 0)), int(query["rows"]), total)
    items = [
        {"DOI": f"10.1234/{one}", "URL": f"https://doi.org/10.1234/{one}", "title": [f"Work {one}"]} for one in rows
    ]
    return {"message": {"total-results": total, "items": items}}


def europepmc(query: dict[str, str], total: int) -> Any:
    first, size = int(query.get("cursorMark", "m0")[1:]), int(query["pageSize"])
    found = [{"id": str(one), "source": "MED", "title": f"Work {one}"} for one in _rows(first, size, total)]
    return {"hitCount": total, "nextCursorMark": f"m{min(first + size, total)}", "resultList": {"result": found}}


def brave(query: dict[str, str], total: int) -> Any:
    size, page = int(query["count"]), int(query.get("offset", 0))
    rows = _rows(page * size, size, total)
    found = [{"title": f"Page {one}", "url": f"https://x.example/{one}"} for one in rows]
    return {"query": {"more_results_available": rows.stop < total}, "web": {"results": found}}


def google(query: dict[str, str], total: int) -> Any:
    first, size = int(query.get("start", 1)) - 1, int(query["num"])
    rows = _rows(first, size, total)
    found = [{"title": f"Page {one}", "link": f"https://x.example/{one}"} for one in rows]
    more = [{"startIndex": rows.stop + 1}] if rows.stop < total else []
    return {"queries": {"nextPage": more}, "items": found, "searchInformation": {"totalResults": str(total)}}


UPSTREAMS = {"openalex": openalex, "crossref": crossref, "europepmc": europepmc, "brave": brave, "google": google}


class Upstreams:
    """Answers for every provider with numbered rows, and counts what it is asked."""

    def __init__(self, total: int = TOTAL) -> None:
        self.total = total
        self.sent: list[Request] = []
        self.failing: Callable[[Request], bool] = lambda _: False

    async def send(self, request: Request) -> Response:
        self.sent.append(request)
        if self.failing(request):
            return Response(429, {}, b"{}", request.url)
        if request.provider not in UPSTREAMS or request.operation not in ("scholarly", "web"):
            return Response(404, {}, b"{}", request.url)
        query = {
            name: values[0]
            for name, values in parse_qs(
                urlencode([(k, v if isinstance(v, str) else "k") for k, v in request.query])
            ).items()
        }
        body = json.dumps(UPSTREAMS[request.provider](query, self.total)).encode()
        return Response(200, {"content-type": "application/json"}, body, request.url)

    async def aclose(self) -> None:
        """Nothing to close."""


def make(upstreams: Upstreams) -> Executor:
    cache = AnswerCache(disk=None, key=None, clock=lambda: 1000.0, warn=pytest.fail)
    return Executor(shipped_model(), environ=SETTINGS, sender=upstreams, cache=cache, clock=lambda: 1000.0)


async def walk(engine: Executor, tool: str, arguments: dict[str, Any], key: str) -> Iterator[list[Any]]:
    """The pages of an answer, one after the other."""
    pages, cursor = [], None
    for _ in range(200):
        done = await engine.call(tool, {**arguments, **({"cursor": cursor} if cursor else {})})
        pages.append(done.answer[key])
        cursor = done.answer.get("nextCursor")
        if cursor is None:
            return iter(pages)
    raise AssertionError("it never ends")


@pytest.mark.parametrize(
    ("tool", "provider", "size", "total"),
    [
        ("academic_search", "openalex", 10, 300),
        ("academic_search", "openalex", 7, 137),
        ("academic_search", "crossref", 100, 300),
        ("academic_search", "crossref", 15, 137),
        ("academic_search", "europepmc", 20, 300),
        ("academic_search", "europepmc", 15, 137),
        ("web_search", "brave", 50, 137),
        ("web_search", "brave", 15, 137),
        ("web_search", "google", 15, 90),
    ],
)
async def test_a_walk_gives_every_row_once_and_in_order(tool: str, provider: str, size: int, total: int) -> None:
    engine = make(Upstreams(total))
    key = "papers" if tool == "academic_search" else "results"

    pages = list(await walk(engine, tool, {"query": "otters", "provider": provider, "num_results": size}, key))

    rows = [row["title"] for page in pages for row in page]
    assert rows == [f"{'Work' if key == 'papers' else 'Page'} {one}" for one in range(total)]


async def test_a_walk_through_rows_of_which_some_are_left_out_loses_none_of_the_others() -> None:
    class Dated(Upstreams):
        async def send(self, request: Request) -> Response:
            response = await super().send(request)
            body = json.loads(response.body)
            for item in body.get("results", ()):
                item["publication_year"] = 2001 if int(item["id"].rpartition("W")[2]) % 3 else 1980
            return Response(200, response.headers, json.dumps(body).encode(), response.url)

    engine = make(Dated())
    asked = {"query": "otters", "provider": "openalex", "num_results": 10, "year_from": 2000}

    pages = list(await walk(engine, "academic_search", asked, "papers"))

    assert [row["title"] for page in pages for row in page] == [f"Work {one}" for one in range(TOTAL) if one % 3]


async def test_a_page_that_was_asked_for_before_sends_nothing() -> None:
    upstreams = Upstreams()
    engine = make(upstreams)
    first = await engine.call("web_search", {"query": "otters", "num_results": 15, "provider": "brave"})
    again = {"query": "otters", "num_results": 15, "provider": "brave", "cursor": first.answer["nextCursor"]}
    second = await engine.call("web_search", again)
    count = len(upstreams.sent)

    third = await engine.call("web_search", again)

    assert third.answer == second.answer
    assert len(upstreams.sent) == count


async def test_what_was_left_of_a_page_is_not_asked_for_again() -> None:
    upstreams = Upstreams()
    engine = make(upstreams)
    asked = {"query": "otters", "num_results": 30, "provider": "brave"}
    first = await engine.call("web_search", asked)
    sent = [request.query for request in upstreams.sent]

    await engine.call("web_search", {**asked, "cursor": first.answer["nextCursor"]})

    assert len(sent) == 2
    assert not [request for request in upstreams.sent[2:] if request.query in sent]


async def test_a_cursor_outlives_the_server_that_gave_it() -> None:
    asked = {"query": "otters", "num_results": 20, "provider": "openalex"}
    first = await make(Upstreams()).call("academic_search", asked)

    second = await make(Upstreams()).call("academic_search", {**asked, "cursor": first.answer["nextCursor"]})

    assert second.answer["papers"][0]["title"] == "Work 20"


async def test_after_a_fall_back_the_next_page_comes_from_whoever_stood_in() -> None:
    upstreams = Upstreams()
    upstreams.failing = lambda request: request.provider == "openalex"
    engine = make(upstreams)
    first = await engine.call("academic_search", {"query": "otters", "depth": "quick"})
    upstreams.failing = lambda _: False
    upstreams.sent.clear()

    second = await engine.call(
        "academic_search", {"query": "otters", "depth": "quick", "cursor": first.answer["nextCursor"]}
    )

    assert first.answer["source"] == second.answer["source"] == "crossref"
    assert [row["title"] for row in second.answer["papers"]] == [f"Work {one}" for one in range(5, 10)]
    assert {request.provider for request in upstreams.sent if request.operation == "scholarly"} == {"crossref"}


async def test_a_walk_through_merged_indexes_gives_every_work_once() -> None:
    engine = make(Upstreams(40))

    pages = list(await walk(engine, "academic_search", {"query": "otters", "num_results": 10}, "papers"))

    rows = [row["url"] for page in pages for row in page]
    assert len(rows) == len(set(rows))
    assert {f"https://doi.org/10.1234/{one}" for one in range(40)} <= set(rows)


async def test_nobody_elses_page_stands_for_one_that_cannot_be_had() -> None:
    upstreams = Upstreams()
    engine = make(upstreams)
    first = await engine.call("academic_search", {"query": "otters", "depth": "quick"})
    upstreams.failing = lambda request: request.provider == first.answer["source"]
    upstreams.sent.clear()

    with pytest.raises(Fault) as caught:
        await engine.call(
            "academic_search", {"query": "otters", "depth": "quick", "cursor": first.answer["nextCursor"]}
        )

    assert caught.value.kind == "rate_limited"
    assert f"the next page can only come from {first.answer['source']}" in caught.value.message
    assert {request.provider for request in upstreams.sent} == {first.answer["source"]}


def _forged() -> Iterator[tuple[str, Callable[[list[Any]], None]]]:
    def put(at: int, value: Any) -> Callable[[list[Any]], None]:
        return lambda content: content.__setitem__(at, value)

    yield "version", put(0, 2)
    yield "question", put(1, "000000")
    value: Any
    for value in (-1, 99, "1", None, True, 1.5):
        yield f"strategy {value!r}", put(2, value)
    for value in (-1, 10**9, "1", [1]):
        yield f"offset {value!r}", put(3, value)
    for value in (0.5, 101, "x"):
        yield f"size {value!r}", put(4, value)
    yield "a second try", put(5, 1)
    for page in (
        "-1",
        "0",
        "101",
        "1e9",
        "../",
        "2/../..",
        "https://evil.example/",
        "٣",
        " 2",
        "02",
        2,
        None,
        "2" * 9000,
    ):
        yield f"page {str(page)[:20]!r}", put(6, ["openalex", page])
    for name in ("nobody", "brave", "crossref", 1):
        yield f"provider {name!r}", put(6, [name, "2"])
    for given in (-1, "1", 10**7):
        yield f"skip {given!r}", put(6, ["openalex", "2", given])
    yield "two of them", lambda content: content.append(["openalex", "3"])
    yield "none", lambda content: content.pop()


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in _forged()])
async def test_a_forged_cursor_is_refused_and_nobody_is_asked(change: Callable[[list[Any]], None]) -> None:
    """Whoever knows how it is made can write another one: what it says is held against the spec all the same."""
    import hashlib

    upstreams = Upstreams()
    engine = make(upstreams)
    asked = {"query": "otters", "provider": "openalex"}
    cursor = (await engine.call("academic_search", asked)).answer["nextCursor"]
    content = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))[:-1]
    change(content)
    written = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    sealed = json.dumps([*content, hashlib.sha256(written).hexdigest()[:6]], separators=(",", ":")).encode()
    upstreams.sent.clear()

    with pytest.raises(Fault) as caught:
        await engine.call("academic_search", {**asked, "cursor": base64.urlsafe_b64encode(sealed).decode().rstrip("=")})

    assert caught.value.kind == "validation"
    assert not upstreams.sent


async def test_a_cursor_that_was_cut_changed_or_given_to_another_question_is_refused() -> None:
    upstreams = Upstreams()
    engine = make(upstreams)
    asked = {"query": "otters", "provider": "openalex"}
    cursor = (await engine.call("academic_search", asked)).answer["nextCursor"]
    upstreams.sent.clear()
    broken = [cursor[:at] + ("A" if cursor[at] != "A" else "B") + cursor[at + 1 :] for at in range(len(cursor))]
    calls = [
        {**asked, "cursor": one} for one in (*broken, cursor[:-1], cursor[:10], cursor + "A", "%%%", "né", "x" * 1999)
    ]
    calls += [
        {"query": "beavers", "provider": "openalex", "cursor": cursor},
        {**asked, "year_from": 2001, "cursor": cursor},
    ]

    for call in calls:
        with pytest.raises(Fault) as caught:
            await engine.call("academic_search", call)
        assert caught.value.kind == "validation"
        assert "cursor" in caught.value.message

    assert not upstreams.sent
