"""Pages are asked for one after the other, in the declared way, until a declared stop."""

from __future__ import annotations

import json

import pytest

from specloom.faults import Fault
from specloom.wire import Response
from weaving import Run, a_provider, find, weave_texts

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
    done = run(f"{{page: {{parameter: page, from: 0}}, most: {most}}}", page("a"))

    assert len(done.sent) == most


def test_a_page_that_fails_fails_the_call() -> None:
    done = run("{page: {parameter: page}, most: 3}", page("a"), Fault("network", "gone"))

    assert done.fault is not None
    assert done.fault.kind == "upstream_unavailable"
