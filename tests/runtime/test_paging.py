"""Pages are asked for one after the other, in the declared way, until a declared stop."""

from __future__ import annotations

import json

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.core.secrets import Secret
from specloom.runtime.operation import drive, perform
from tests.support.spec_library import Run, a_provider, find, weave_texts

OPERATION = """
input: [query]
steps:
  - get: /search
    query: {{q: =args.query}}
    paging: {paging}
    json:
      each: items
      map: {{url: {{at: url, required: true}}}}
"""


def page(*names: str, **more: object) -> Response:
    headers = {"content-type": "application/json", **{k: str(v) for k, v in more.items() if k == "link"}}
    said = {"items": [{"url": f"https://{name}.example.org/"} for name in names]}
    said |= {key: value for key, value in more.items() if key != "link"}  # type: ignore[dict-item]
    return Response(200, headers, json.dumps(said).encode(), "https://sample.example/search")


def run(paging: str, *replies: Response | Fault) -> Run:
    return find(weave_texts(a_provider(OPERATION.format(paging=paging))), {"query": "x"}, *replies)


def asked(done: Run, name: str) -> list[str | None]:
    return [next((str(value) for key, value in one.query if key == name), None) for one in done.sent]


def test_numbered_pages_are_read_until_enough() -> None:
    paging = "{page: {parameter: page}, most: 9, enough: length(rows) >= `3`}"

    done = run(paging, page("a", "b"), page("c", "d"), page("e"))

    assert asked(done, "page") == [None, "2"]
    assert len(done.rows) == 4


def test_numbered_rows_are_read_until_a_page_is_empty() -> None:
    done = run("{offset: {parameter: start, by: 2}, most: 9}", page("a", "b"), page("c"), page())

    assert asked(done, "start") == [None, "2", "4"]
    assert [row["url"] for row in done.rows] == [f"https://{name}.example.org/" for name in "abc"]


def test_a_cursor_is_followed_until_it_is_missing() -> None:
    paging = "{cursor: {parameter: after, at: page.next}, most: 9}"

    done = run(paging, page("a", next="k1"), page("b", next="k2"), page("c"))

    assert asked(done, "after") == [None, "k1", "k2"]
    assert len(done.rows) == 3


def test_a_cursor_that_does_not_move_ends_it() -> None:
    done = run("{cursor: {parameter: after, at: page.next}, most: 9}", page("a", next="k"), page("b", next="k"))

    assert asked(done, "after") == [None, "k"]


def test_a_link_is_followed_on_the_same_host_only() -> None:
    near = '<https://sample.example/search?q=x&p=2>; rel="next"'
    far = '<https://elsewhere.example/search?q=x&p=3>; rel="next"'

    done = run("{link: next, most: 9}", page("a", link=near), page("b", link=far))

    assert [one.url for one in done.sent] == ["https://sample.example/search"] * 2
    assert asked(done, "p") == [None, "2"]


@pytest.mark.parametrize("most", [1, 3])
def test_there_is_always_a_stop(most: int) -> None:
    done = run(f"{{page: {{parameter: page, from: 0}}, most: {most}}}", *map(page, "abcd"))

    assert len(done.sent) == most


def test_one_page_under_every_number_is_read_once() -> None:
    done = run("{offset: {parameter: start, by: 2}, most: 9}", page("a", "b"))

    assert asked(done, "start") == [None, "2"]
    assert len(done.rows) == 2


def test_cursors_in_a_circle_end_it() -> None:
    pages = (page("a", next="k1"), page("b", next="k2"), page("c", next="k1"), page("d"))

    done = run("{cursor: {parameter: after, at: page.next}, most: 9}", *pages)

    assert asked(done, "after") == [None, "k1", "k2"]


@pytest.mark.parametrize("cursor", [["k"], {"k": 1}, True, [], {}])
def test_what_is_no_single_value_is_no_cursor(cursor: object) -> None:
    done = run("{cursor: {parameter: after, at: page.next}, most: 9}", page("a", next=cursor), page("b"))

    assert [row["url"] for row in done.rows] == ["https://a.example.org/"]


@pytest.mark.parametrize(
    ("target", "url"),
    [
        ("?q=x&p=2", "https://sample.example/search"),
        ("/find?p=2", "https://sample.example/find"),
        ("find?p=2", "https://sample.example/find"),
        (".elsewhere.example/search?p=2", "https://sample.example/.elsewhere.example/search"),
        ("https:find?p=2", "https://sample.example/find"),
    ],
)
def test_a_link_is_read_from_where_it_stands(target: str, url: str) -> None:
    done = run("{link: next, most: 2}", page("a", link=f'<{target}>; rel="next"'), page("b"))

    assert done.sent[1].url == url
    assert asked(done, "p") == [None, "2"]


@pytest.mark.parametrize(
    "target",
    ["//elsewhere.example/search?p=2", "http://sample.example/search?p=2", "https://sample.example:444/?p=2",
     "https://sample.example@elsewhere.example/?p=2", "http://127.0.0.1/?p=2", "https://[", "https://[::1", "file:///etc/x"],
)  # fmt: skip
def test_a_link_that_leads_away_or_nowhere_is_not_followed(target: str) -> None:
    done = run("{link: next, most: 2}", page("a", link=f'<{target}>; rel="next"'), page("b"))

    assert len(done.sent) == 1
    assert len(done.rows) == 1


def test_one_of_several_relations_of_a_link_may_be_the_next() -> None:
    link = '<https://sample.example/search?p=1>; rel="first prev", <https://sample.example/search?p=3>; Rel="NEXT last"'

    done = run("{link: next, most: 2}", page("a", link=link), page("b"))

    assert asked(done, "p") == [None, "3"]


def test_a_key_that_stands_in_a_link_goes_on_as_a_secret() -> None:
    operation = OPERATION.format(paging="{link: next, most: 2}").replace(
        "{q: =args.query}", "{q: =args.query, key: =config.SAMPLE_KEY}"
    )
    woven = weave_texts(a_provider(operation, top="config: {SAMPLE_KEY: {secret: true, description: A key.}}\n"))
    link = '<https://sample.example/search?key=issued-key&p=2>; rel="next"'

    done = find(woven, {"query": "x"}, page("a", link=link), page("b"), config={"SAMPLE_KEY": Secret("issued-key")})

    assert done.sent[1].query == (("p", "2"), ("key", Secret("issued-key")))


def test_a_page_that_fails_fails_the_call() -> None:
    done = run("{page: {parameter: page}, most: 3}", page("a"), Fault("network", "gone"))

    assert done.fault is not None
    assert done.fault.kind == "upstream_unavailable"


NAMED = """
input: [query]
steps:
  - {as: parts, get: /parts, query: {q: =args.query}, json: {each: parts, map: {name: "@"}}}
  - as: pages
    get: /parts/{steps.parts[0].name}
    paging: {names: {at: "steps.parts[1:].name"}, most: 4, enough: length(rows) >= `3`}
    json: {each: items, map: {url: {at: url, required: true}}}
"""


def named(names: list[object], *pages: Response) -> Run:
    parts = Response(200, {"content-type": "application/json"}, json.dumps({"parts": names}).encode(), "")
    return find(weave_texts(a_provider(NAMED)), {"query": "x"}, parts, *pages)


def test_pages_with_names_are_read_in_their_order_until_enough() -> None:
    done = named(["p1", "p2", "p3", "p4"], page("a"), page(), page("b", "c"))

    assert [one.url for one in done.sent[1:]] == [f"https://sample.example/parts/p{at}" for at in (1, 2, 3)]
    assert len(done.rows) == 3


def test_pages_with_names_end_with_the_last_name() -> None:
    assert len(named(["p1", "p2"], page("a"), page("b")).sent) == 3


def test_of_pages_with_names_no_more_are_read_than_is_said() -> None:
    assert len(named([f"p{at}" for at in range(9)], *(page() for _ in range(9))).sent) == 5


def test_a_page_that_is_named_twice_ends_it() -> None:
    assert len(named(["p1", "p2", "p1", "p3"], page("a"), page("b")).sent) == 3


def test_the_name_of_a_page_is_one_segment_of_the_path() -> None:
    done = named(["p1", "../../p2", "..", "", "a?b#c", "//elsewhere.example/"], page())

    assert [one.url for one in done.sent[2:]] == [
        "https://sample.example/parts/..%2F..%2Fp2",
        "https://sample.example/parts/a%3Fb%23c",
        "https://sample.example/parts/%2F%2Felsewhere.example%2F",
    ]


@pytest.mark.parametrize(
    ("paging", "replies", "pages"),
    [
        ("{page: {parameter: page}, most: 2}", ("a", "b", "c"), 2),
        ("{page: {parameter: page}, most: 1}", ("a", "b"), 1),
        ("{page: {parameter: page}, most: 2, enough: length(rows) >= `2`}", ("a", "b", "c"), 0),
        ("{page: {parameter: page}, most: 3}", ("a", "b", "b"), 0),
    ],
)
def test_an_answer_says_of_how_many_pages_it_is_only_where_the_upstream_has_more(
    paging: str, replies: tuple[str, ...], pages: int
) -> None:
    done = run(paging, *map(page, replies))

    assert done.answer is not None
    assert done.answer.pages == pages


def test_a_last_page_without_rows_is_the_end_and_no_cut() -> None:
    done = run("{offset: {parameter: start, by: 1}, most: 2}", page("a"), page())

    assert done.answer is not None
    assert done.answer.pages == 0


def test_pages_that_may_not_be_paid_for_end_the_answer_and_tell_why() -> None:
    paging = "{page: {parameter: page}, most: 9}"
    model = weave_texts(a_provider(OPERATION.format(paging=paging)))
    provider = model.model.providers["sample"]
    replies = [page("a"), page("b"), page("c")]

    def afford(count: int, least: int) -> None:
        assert (count, least) == (1, 1)
        if len(replies) == 1:
            raise Fault("over_budget", "that is all", ours=True)

    running = perform(provider, provider.operations["find"], {"query": "x"}, {}, 0.0, afford=afford)
    answer = drive(running, lambda _: replies.pop(0))

    assert [row["url"] for row in answer.rows] == ["https://a.example.org/", "https://b.example.org/"]
    assert [fault.message for fault in answer.failed] == ["that is all"]
