"""Rows that do not fit the budget of an answer come next: a walk by the cursor gives each row once at any budget."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specloom.cache import AnswerCache
from specloom.core import PagePosition, count_tokens
from specloom.core.messages import Request, Response
from specloom.runtime import AnswerEnd, Executor, Presenter, parse_arguments, write_cursor
from specloom.runtime.cursor import LONGEST, read_cursor
from tests.promises.test_pages import WALKS
from tests.support import paged
from tests.support.paged import serve, title
from tests.support.shipped import shipped_model
from tests.support.spec_library import Woven, a_tool, weave_texts
from tests.support.stubbed import NOW, Product, Stub, Upstreams

KEYS = {
    "BRAVE_API_KEY": "made-up",
    # Nobody's pace is kept here, since nobody would be waited for but the clock.
    **{f"{name.upper()}_RATE": "100000/s" for name in shipped_model().providers},
}
ENOUGH = 600
"""More calls than any of these walks takes."""
INDEXES: Mapping[str, Stub] = {
    "api.openalex.org/works": serve(paged.part_of_openalex, 0),
    "api.crossref.org/works": serve(paged.part_of_crossref, 0),
    "europepmc/webservices/rest/search": serve(paged.part_of_europepmc, 0),
}


def make(upstreams: Upstreams, *, cached: bool = True) -> Product:
    cache = AnswerCache(disk=None, key=None, clock=lambda: NOW, warn=pytest.fail) if cached else None
    return Product(upstreams, KEYS, cache=cache)


def web(lengths: Sequence[int], total: int) -> Upstreams:
    """Brave with so many rows, whose excerpts are so long, in turn."""

    def page(query: dict[str, str], _: Any, __: int) -> Stub:
        size, first = int(query["count"]), int(query["count"]) * int(query.get("offset", 0))
        found = paged.rows(first, size, total)
        results = [
            {"title": title(n), "url": f"https://x.example/{n}", "description": "otter " * lengths[n % len(lengths)]}
            for n in found
        ]
        return {"query": {"more_results_available": found.stop < total}, "web": {"results": results}}

    return Upstreams({"/web/search": serve(page, total)}, otherwise=(404, {}, {}))


async def walk(product: Product, tool: str, key: str, budgets: Sequence[int], **question: Any) -> list[list[str]]:
    """The titles of each answer to the end, with these budgets in turn."""
    answers: list[list[str]] = []
    cursor: dict[str, str] = {}
    for budget, _ in zip(cycle(budgets), range(ENOUGH), strict=False):
        answer = await product.answer(tool, **question, **cursor, max_tokens=budget)
        answers.append([row["title"] for row in answer[key]])
        if answer.get("nextCursor") is None:
            return answers
        cursor = {"cursor": answer["nextCursor"]}
    raise AssertionError("it never ends")


def flat(answers: list[list[str]]) -> list[str]:
    return [row for answer in answers for row in answer]


BUDGETS = st.lists(st.integers(200, 3000), min_size=1, max_size=4)


@settings(max_examples=12)
@given(
    lengths=st.lists(st.integers(0, 200), min_size=1, max_size=5),
    budgets=BUDGETS,
    size=st.integers(5, 50),
    total=st.integers(0, 50),
    cached=st.booleans(),
)
def test_a_walk_gives_each_row_once_in_order_and_ends_whatever_fits(
    lengths: list[int], budgets: list[int], size: int, total: int, cached: bool
) -> None:
    product = make(web(lengths, total), cached=cached)

    rows = flat(
        asyncio.run(walk(product, "web_search", "results", budgets, query="o", provider="brave", num_results=size))
    )

    assert rows == [title(n) for n in range(total)]


@settings(max_examples=3)
@given(budgets=BUDGETS, size=st.integers(20, 100))
def test_a_walk_through_merged_indexes_gives_each_work_once_whatever_fits(budgets: list[int], size: int) -> None:
    product = make(Upstreams(INDEXES, otherwise=(404, {}, {})))

    rows = flat(asyncio.run(walk(product, "academic_search", "papers", budgets, query="otters", num_results=size)))

    assert sorted(rows) == [title(n) for n in range(300)]


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("name", ["citation_graph", "search_and_scrape"])
async def test_a_walk_of_a_tool_that_lists_its_rows_in_its_own_way_gives_each_once_whatever_fits(
    name: str, cached: bool
) -> None:
    # A host is read one page after the other, so that few of them are enough.
    fewer = {"total": 8, "size": 5} if name == "search_and_scrape" else {}
    for one in [replace(one, **fewer) for one in WALKS if one.tool == name]:
        for budget in (200, 1500):
            shown: list[str] = []
            cursor: dict[str, str] = {}
            upstreams = one.upstreams()
            product = make(upstreams, cached=cached)
            calls = 0
            while calls < ENOUGH:
                calls += 1
                # Without a cache each call is one of a server of its own, which knows nothing of those before.
                product = product if cached else make(upstreams, cached=False)
                answer = await product.answer(one.tool, **{**one.question, "max_tokens": budget}, **cursor)
                shown += [row[one.shows].rpartition("/")[2] for row in answer[one.rows]]
                if answer.get("nextCursor") is None:
                    break
                cursor = {"cursor": answer["nextCursor"]}

            assert shown == one.expected(), (one.operation, budget)
            assert budget > 200 or calls > one.total // one.size + 1, "nothing was ever cut"


async def test_a_list_that_is_told_in_part_says_how_many_and_that_there_is_more() -> None:
    one = next(one for one in WALKS if one.tool == "citation_graph")

    result = await make(one.upstreams()).call(one.tool, **{**one.question, "max_tokens": 400})

    answer = result["structuredContent"]
    assert answer["citedByCount"] == len(answer["citedBy"]) < one.size
    assert answer["moreExists"] is True
    assert "referencesCount" not in answer
    count = answer["citedByCount"]
    assert answer["notices"] == [f"Here are the first {count} of 20 citing works; the cursor goes on behind them."]
    assert result["content"][0]["text"].endswith(f"Next page: cursor {answer['nextCursor']}")


async def test_two_lists_at_once_are_cut_without_a_cursor() -> None:
    stubs = {
        "/paper/batch": [{"paperId": "5eed", "title": "Seed"}],
        "/paper/5eed/citations": serve(paged.semanticscholar_citations, 50),
        "/paper/5eed/references": serve(paged.semanticscholar_references, 50),
    }
    product = make(Upstreams(stubs, otherwise=(404, {}, {})))

    answer = await product.answer("citation_graph", paper="10.1000/seed", num_results=20, max_tokens=400)

    assert len(answer["citedBy"]) < 20
    assert "nextCursor" not in answer
    assert "moreExists" not in answer


@pytest.mark.parametrize("cached", [True, False])
async def test_three_hundred_works_of_one_index_come_once_each_for_few_tokens(cached: bool) -> None:
    upstreams = Upstreams({"api.openalex.org/works": serve(paged.openalex, 300)}, otherwise=(404, {}, {}))
    shown: list[str] = []
    cursor: dict[str, str] = {}
    product = make(upstreams)
    calls = 0
    while calls < ENOUGH:
        # Without a cache each call is one of a server of its own, which knows nothing of those before.
        product = product if cached else make(upstreams, cached=False)
        question = {"query": "otters", "provider": "openalex", "num_results": 50, "max_tokens": 300}
        answer = await product.answer("academic_search", **question, **cursor)
        calls += 1
        shown += [paper["title"] for paper in answer["papers"]]
        if answer.get("nextCursor") is None:
            break
        cursor = {"cursor": answer["nextCursor"]}

    assert shown == [title(n) for n in range(300)]
    assert calls > 12, "nothing was ever cut"
    if cached:
        assert len(upstreams.asked) == 6, "what did not fit was asked for again"


@pytest.mark.parametrize(("cached", "budget"), [(True, 500), (False, 1200)])
async def test_merged_rows_come_once_each_for_few_tokens(cached: bool, budget: int) -> None:
    product = make(Upstreams(INDEXES, otherwise=(404, {}, {})), cached=cached)

    answers = await walk(product, "academic_search", "papers", [budget], query="otters", num_results=100)

    assert sorted(flat(answers)) == [title(n) for n in range(300)]
    assert max(map(len, answers)) < 50


QUESTION = {"query": "otters", "provider": "brave", "num_results": 50, "max_tokens": 500}


async def test_what_is_told_says_in_one_way_what_was_left_out_and_how_it_is_had() -> None:
    product = make(web([0], 50))

    result = await product.call("web_search", **QUESTION)
    after = await product.call("web_search", **QUESTION, cursor=result["structuredContent"]["nextCursor"])

    answer, text = result["structuredContent"], result["content"][0]["text"]
    count = len(answer["results"])
    assert 1 < count < 25
    assert answer["notices"] == [f"Here are the first {count} of 50 results; the cursor goes on behind them."]
    assert answer["resultCount"] == len(answer["urls"]) == count
    assert answer["moreExists"] is True
    assert text.endswith(f"Next page: cursor {answer['nextCursor']}")
    assert f"Results for otters: {count}\n" in text
    assert "read_more" not in text
    assert [part["type"] for part in result["content"]] == ["text"]
    following = after["structuredContent"]
    assert following["urls"][0] == f"https://x.example/{count}"
    sentence = f"Here are the next {len(following['results'])} of 50 results; the cursor goes on behind them."
    assert following["notices"] == [sentence]
    assert count_tokens(json.dumps(following, separators=(",", ":"))) <= 500


async def test_what_is_left_of_an_answer_is_told_without_a_notice_and_ends_as_the_whole_does() -> None:
    product = make(web([0], 50))
    first = await product.answer("web_search", **QUESTION)

    rest = await product.answer("web_search", **{**QUESTION, "max_tokens": 9000}, cursor=first["nextCursor"])

    assert rest["resultCount"] == 50 - first["resultCount"]
    assert "notices" not in rest
    assert rest["moreExists"] is False
    assert "nextCursor" not in rest


async def test_what_was_left_out_comes_from_whoever_stood_in() -> None:
    stubs = {
        "api.openalex.org/works": (503, {}, {}),
        "api.crossref.org/works": serve(paged.crossref, 60),
    }
    question = {"query": "otters", "depth": "quick", "num_results": 30, "max_tokens": 400}
    first = await make(Upstreams(stubs, otherwise=(404, {}, {}))).answer("academic_search", **question)
    back = Upstreams({**stubs, "api.openalex.org/works": serve(paged.openalex, 60)}, otherwise=(404, {}, {}))
    product = make(back)
    whole = await product.answer("academic_search", **question)

    second = await product.answer("academic_search", **question, cursor=first["nextCursor"])

    assert (first["source"], whole["source"], second["source"]) == ("crossref", "openalex", "crossref")
    assert second["papers"][0]["title"] == title(len(first["papers"]))


async def test_another_number_of_rows_changes_nothing_and_is_told() -> None:
    product = make(web([0], 200))
    first = await product.answer("web_search", **QUESTION)

    second = await product.answer("web_search", **{**QUESTION, "num_results": 3}, cursor=first["nextCursor"])

    assert second["urls"][0] == f"https://x.example/{first['resultCount']}"
    assert second["resultCount"] > 3
    assert "A search that is gone on with keeps its num_results, 50." in second["notices"]


async def test_the_number_of_rows_may_be_left_out_and_nobody_is_asked_again() -> None:
    upstreams = web([0], 200)
    product = make(upstreams)
    first = await product.answer("web_search", **QUESTION)
    count = len(upstreams.asked)
    again = {name: value for name, value in QUESTION.items() if name != "num_results"}

    second = await product.answer("web_search", **again, cursor=first["nextCursor"])

    assert second["urls"][0] == f"https://x.example/{first['resultCount']}"
    assert len(upstreams.asked) == count


async def test_what_is_left_is_not_told_where_not_all_can_be_asked_who_gave_the_rows() -> None:
    question = {"query": "otters", "num_results": 40, "max_tokens": 400}
    first = await make(Upstreams(INDEXES, otherwise=(404, {}, {}))).answer("academic_search", **question)
    away = Upstreams({**INDEXES, "api.crossref.org/works": (503, {}, {})}, otherwise=(404, {}, {}))

    result = await make(away).call("academic_search", **question, cursor=first["nextCursor"])

    assert result["isError"]
    assert "crossref can be asked again: try again later" in result["content"][0]["text"]


def _seal(content: list[Any]) -> str:
    """A cursor with this content, as whoever knows how it is made would write it."""
    written = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    sealed = json.dumps([*content, hashlib.sha256(written).hexdigest()[:6]], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


async def test_a_forged_number_of_rows_another_question_and_another_tool_are_refused_and_nobody_is_asked() -> None:
    cursor = (await make(web([0], 50)).answer("web_search", **QUESTION))["nextCursor"]
    content = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))[:-1]
    assert content[6] > 1
    upstreams = web([0], 50)
    product = make(upstreams)
    calls = [(QUESTION, _seal([*content[:6], told, *content[7:]])) for told in (-1, 10**7, 1.5, True, None)]
    calls += [({**QUESTION, "query": "beavers"}, cursor), ({**QUESTION, "safe": "off"}, cursor)]

    for question, one in calls:
        result = await product.call("web_search", **question, cursor=one)
        assert result["isError"], one
        assert '"kind":"validation"' in result["content"][0]["text"]
    foreign = await product.call("news_search", query="otters", provider="brave", cursor=cursor)

    assert foreign["isError"]
    assert not upstreams.asked


async def test_more_rows_than_an_answer_has_are_none_of_it_and_the_walk_goes_on() -> None:
    product = make(web([0], 200))
    cursor = (await product.answer("web_search", **QUESTION))["nextCursor"]
    content = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))[:-1]

    beyond = await product.answer("web_search", **QUESTION, cursor=_seal([*content[:6], 90, *content[7:]]))
    following = await product.answer("web_search", **QUESTION, cursor=beyond["nextCursor"])

    assert beyond["results"] == beyond["urls"] == []
    assert following["urls"][0] == "https://x.example/50"


def test_a_cursor_over_many_indexes_is_never_longer_than_may_be_passed() -> None:
    model = shipped_model()
    tool = model.tools["academic_search"]
    given = parse_arguments(tool, {"query": "otters"}).given
    strategy = next(at for at, one in enumerate(tool.plan) if one.kind == "gather")
    pages = [
        ("openalex", PagePosition("2")),
        ("crossref", PagePosition("100")),
        ("europepmc", PagePosition("A" * 60, 9)),
        ("semanticscholar", PagePosition("100", 99)),
    ]
    end = AnswerEnd(strategy, tuple(pages), 0, 50, seen="".join(f"{n:04d}" for n in range(340)))

    behind = write_cursor(tool, given, end)
    one = read_cursor(tool, given, behind, model)
    within = write_cursor(tool, given, replace(one, told=49))

    assert max(len(behind), len(within)) <= LONGEST
    assert replace(read_cursor(tool, given, within, model), told=0) == one, "a part has the marks of the whole"
    assert write_cursor(tool, given, one) == behind
    assert one.seen.endswith("03380339")
    assert len(one.seen) > 4 * 300


# --- The same for specs of others -------------------------------------------------------------------------------------

GOES_ON = "cursor: {type: cursor, description: Where to go on.}\n"
ANSWER = """\
query: =args.query
results: {each: rows, map: {url: url, title: title}}
nextCursor: =next_cursor
"""
TEXT = 'text: [{each: answer.results, lines: ["{n}. {item.title}"]}, "Next page: cursor {answer.nextCursor}"]\n'
WORDS = "How the otters of the river find their way home in winter when the water is high and cold. "


class Items:
    """An upstream with forty long items, and no pages."""

    async def send(self, request: Request) -> Response:
        items = [{"url": f"https://{at}.example/", "title": f"{at} {WORDS}"} for at in range(40)]
        return Response(200, {"content-type": "application/json"}, json.dumps({"items": items}).encode(), request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


def weave_tool(budget: str, more: str = TEXT) -> Woven:
    return weave_texts(a_tool(answer=ANSWER, inputs=GOES_ON, more=f"budget: {budget}\n{more}"))


async def tell_all(executor: Executor) -> Iterator[tuple[dict[str, Any], str]]:
    """The data and the text of each answer of a walk by the cursor of its text."""
    presenter, answers = Presenter(executor), []
    cursor: dict[str, str] = {}
    for _ in range(50):
        done = await executor.call("sample", {"query": "o", **cursor})
        presented = await presenter.present("sample", done, "ada")
        assert presented.text is not None
        assert presented.whole is None
        answers.append((json.loads(presented.body), presented.text))
        _, _, text = presented.text.partition("Next page: cursor ")
        if not text:
            return iter(answers)
        cursor = {"cursor": text}
    raise AssertionError("it never ends")


async def test_rows_that_no_step_of_a_spec_cuts_are_gone_on_with_too() -> None:
    woven = weave_tool("{tokens: 400, cut: [{of: query, to: 10}]}")
    assert woven.report.errors == [], woven.sentences

    answers = [answer for answer, _ in await tell_all(Executor(woven.model, environ={}, sender=Items()))]

    assert [row["url"] for answer in answers for row in answer["results"]] == [
        f"https://{n}.example/" for n in range(40)
    ]
    assert len(answers) > 1


async def test_the_data_of_an_envelope_stays_whole_and_its_text_has_the_cursor_of_what_it_tells() -> None:
    woven = weave_tool("{tokens: 300, cut: [{of: results, to: 1}]}", f"envelope: papers\n{TEXT}")
    assert woven.report.errors == [], woven.sentences

    answers = list(await tell_all(Executor(woven.model, environ={}, sender=Items())))

    told = [line.split()[1] for _, text in answers for line in text.splitlines() if line[:1].isdigit()]
    assert told == [str(n) for n in range(40)]
    assert len(answers[0][0]["results"]) == 40
    assert "nextCursor" not in answers[0][0]
    assert [len(answer["results"]) for answer, _ in answers] == sorted(
        (len(one["results"]) for one, _ in answers), reverse=True
    )


@pytest.mark.parametrize(
    "step", ["to: 0", "to: 1, last: true", "to: 1, keep: item.title", "to: 1, source: answer.query"]
)
def test_rows_that_give_way_elsewhere_than_from_their_end_cannot_be_gone_on_with(step: str) -> None:
    woven = weave_tool(f"{{tokens: 300, cut: [{{of: results, {step}}}]}}")

    assert [error.code for error in woven.report.errors] == ["E105"]
    assert "'results' gives way from its end" in woven.sentences[0]


@pytest.mark.parametrize(
    "answer",
    [
        "results: {each: 'rows[?title]', map: {title: title}}\nnextCursor: =next_cursor",
        "results: {each: rows, take: '`30`', map: {title: title}}\nnextCursor: =next_cursor",
        "results: {each: rows, map: {title: title}}\nnextCursor: =when(args.query, next_cursor, `null`)",
    ],
)
def test_of_what_is_not_its_rows_a_cursor_stands_behind_all(answer: str) -> None:
    woven = weave_texts(
        a_tool(answer=answer, inputs=GOES_ON, more="budget: {tokens: 300, cut: [{of: results, to: 0}]}\n")
    )

    assert woven.report.errors == [], woven.sentences
    assert woven.tool().cursor is not None
    assert woven.tool().cursor.lists == ()  # type: ignore[union-attr]
