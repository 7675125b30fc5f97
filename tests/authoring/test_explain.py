"""A dry run: the exact requests, who is left out and why, the key and what is in it; and nothing leaves the process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from specloom.authoring.explain import explain, explanation_lines
from specloom.core.faults import Fault
from specloom.core.messages import Request
from specloom.core.terminal import Paint
from specloom.runtime import Unsent
from specloom.runtime.arguments import parse_arguments
from specloom.runtime.executor import Executor
from tests.support.demo_specs import CAPABILITY, PROVIDER, TEXTS, TOOL, demo_executor, write_demo

_WATCHING = [False]
_FORBIDDEN = ("socket.", "os.mkdir", "os.rename", "os.remove", "subprocess.", "os.system", "os.exec", "os.posix_spawn")


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not _WATCHING[0]:
        return
    writes = event == "open" and (
        any(one in str(arguments[1] or "") for one in "wax+")
        or bool(int(arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    )
    if writes or event.startswith(_FORBIDDEN):
        _WATCHING[0] = False
        raise AssertionError(f"a dry run did this: {event} {arguments!r}")


sys.addaudithook(_watch)


@contextmanager
def nothing_leaves() -> Iterator[None]:
    """Fails on any socket, any file opened for writing, any process."""
    _WATCHING[0] = True
    try:
        yield
    finally:
        _WATCHING[0] = False


class Plain:
    """A stream that is no terminal."""

    def isatty(self) -> bool:
        return False


PLAIN = Paint(Plain(), {})  # type: ignore[arg-type]


def shown(executor: Executor, raw: dict[str, Any]) -> str:
    return "\n".join(explanation_lines(explain(executor, "demo_find", raw), PLAIN, 100))


def test_it_sends_nothing_and_writes_nothing(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Unsent())
    explain(executor, "demo_find", {"query": "warm up what is imported at first use"})

    with nothing_leaves():
        found = explain(executor, "demo_find", {"query": "otters"})
        json.dumps(found.to_json())
        explanation_lines(found, PLAIN, 100)

    assert [one.provider for one in found.asked] == ["demo"]


def test_the_watch_of_these_tests_notices_a_file(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="a dry run did this"), nothing_leaves():
        (tmp_path / "x").write_text("x", encoding="utf-8")


async def test_its_way_out_is_closed() -> None:
    with pytest.raises(Fault, match="a dry run sends nothing"):
        await Unsent().send(Request("GET", "https://example.org/"))


def test_it_shows_the_whole_request_with_its_secrets_masked(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Unsent())

    found = explain(executor, "demo_find", {"query": "a b&c", "num_results": 40, "time_range": "week"}).to_json()

    assert found["requested"] == {"num_results": 40}
    assert found["providers"][0]["requests"] == [
        {
            "step": "main",
            "method": "GET",
            "url": "https://demo.example.org/search",
            "query": [["q", "a b&c"], ["count", "10"], ["since", "w"]],
            "headers": {"X-Key": "•••", "Accept": "application/json"},
        }
    ]


def test_a_person_sees_the_address_as_it_goes_over_the_wire(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Unsent())

    text = shown(executor, {"query": "a b&c"})

    assert "GET https://demo.example.org/search?q=a%20b%26c&count=5" in text
    assert "X-Key: •••" in text
    assert "s3cr3t" not in text


def test_a_secret_inside_a_body_is_masked(tmp_path: Path) -> None:
    edits = {PROVIDER: [("- get: /search\n", "- post: /search\n        body: {form: {key: =config.DEMO_KEY, x: y}}\n")]}
    executor = demo_executor(write_demo(tmp_path, edits), sender=Unsent())

    text = shown(executor, {"query": "otters"}) + json.dumps(explain(executor, "demo_find", {"query": "x"}).to_json())

    assert "POST https://demo.example.org/search" in text
    assert "s3cr3t" not in text


def test_whoever_is_left_out_is_named_with_the_reason(tmp_path: Path) -> None:
    write_demo(tmp_path)
    for name in ("unkeyed", "unrouted"):
        text = TEXTS[PROVIDER].replace("name: demo\n", f"name: {name}\n").replace("DEMO_", f"{name.upper()}_")
        (tmp_path / f"providers.d/{name}.yaml").write_text(text, encoding="utf-8")
    environ = {"UNROUTED_URL": "https://unrouted.example.org", "UNROUTED_KEY": "k"}
    executor = demo_executor(tmp_path, sender=Unsent(), environ=environ)

    found = explain(executor, "demo_find", {"query": "otters"})

    assert dict(found.left_out) == {
        "unkeyed": "not configured; set UNKEYED_URL and UNKEYED_KEY",
        "unrouted": "not in the routing order; ask for it by name or put it into SEARCH_ROUTING",
    }


def test_everybody_who_would_be_asked_in_turn_is_shown(tmp_path: Path) -> None:
    write_demo(tmp_path, {CAPABILITY: [("order: [demo]", "order: [spare, demo]")]})
    text = TEXTS[PROVIDER].replace("name: demo\n", "name: spare\n").replace("DEMO_", "SPARE_")
    (tmp_path / "providers.d/spare.yaml").write_text(text, encoding="utf-8")
    environ = {"SPARE_URL": "https://spare.example.org", "SPARE_KEY": "k"}
    executor = demo_executor(tmp_path, sender=Unsent(), environ=environ)

    found = explain(executor, "demo_find", {"query": "otters"})

    assert [one.provider for one in found.asked] == ["spare", "demo"]


def test_an_argument_that_a_provider_does_not_take_is_said(tmp_path: Path) -> None:
    edits = {
        PROVIDER: [
            ("input: [query, num_results, time_range]", "input: [query, num_results]"),
            ("          since: =lookup('since', args.time_range)\n", ""),
        ]
    }
    executor = demo_executor(write_demo(tmp_path, edits), sender=Unsent())

    with_it = explain(executor, "demo_find", {"query": "otters", "time_range": "week"})
    without = explain(executor, "demo_find", {"query": "otters"})

    assert with_it.asked[0].not_honoured == ("time_range",)
    assert without.asked[0].not_honoured == ()
    assert "does not take time_range" in "\n".join(explanation_lines(with_it, PLAIN, 100))


def test_the_key_is_that_of_the_call_and_ignored_inputs_are_named(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Unsent())
    tool = executor.tool("demo_find")

    found = explain(executor, "demo_find", {"query": "otters", "session": "s"})

    assert found.cache is not None
    assert found.cache.key == executor.cache_key(tool, parse_arguments(tool, {"query": "otters"}))
    assert found.cache.ttl == 1800
    assert found.cache.ignored == ("session",)
    assert found.cache.inputs == ("query", "num_results", "time_range", "lens")


def test_a_tool_without_a_cache_says_so(tmp_path: Path) -> None:
    executor = demo_executor(
        write_demo(tmp_path, {TOOL: [("cache: {ttl: 30m, shape: 1, ignore: [session]}\n", "")]}), sender=Unsent()
    )

    assert "answers of this tool are not kept" in shown(executor, {"query": "otters"})


def test_a_list_that_is_split_shows_every_first_request(tmp_path: Path) -> None:
    edits = {
        CAPABILITY: [
            (
                "  query: {type: text, description: What is asked.}",
                "  query: {type: text, description: Q.}\n  sites: {type: list, description: Hosts.}",
            )
        ],
        PROVIDER: [
            (
                "input: [query, num_results, time_range]",
                "input: [query, num_results, time_range, sites]\n    shard: {over: sites, at_most: 2}",
            ),
            ("          q: =args.query\n", "          q: =args.query\n          site: =args.sites\n"),
        ],
        TOOL: [
            (
                "  lens: {type: string, enum",
                "  sites: {type: list, max_items: 9, description: Hosts.}\n  lens: {type: string, enum",
            )
        ],
    }
    executor = demo_executor(write_demo(tmp_path, edits), sender=Unsent())

    found = explain(executor, "demo_find", {"query": "otters", "sites": ["a.org", "b.org", "c.org"]})

    sent = [[value for name, value in one.query if name == "site"] for one in found.asked[0].requests]
    assert sent == [["a.org", "b.org"], ["c.org"]]


def test_steps_that_wait_for_an_answer_are_listed_by_name_and_path(tmp_path: Path) -> None:
    second = """\
      - as: details
        get: /details/{args.query}
        json: {each: results, map: {rank: rank}}
"""
    edits = {
        PROVIDER: [
            (
                "            rank: rank\nexamples:",
                f"            rank: rank\n{second}    rows: {{from: steps.main}}\nexamples:",
            )
        ]
    }
    executor = demo_executor(write_demo(tmp_path, edits), sender=Unsent())

    found = explain(executor, "demo_find", {"query": "otters"})

    assert found.asked[0].later == (("details", "GET", "/details/{args.query}"),)


def test_a_call_that_would_ask_nobody_is_the_fault_of_the_call(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Unsent(), environ={"DEMO_KEY": ""})

    with pytest.raises(Fault, match="DEMO_KEY") as caught:
        explain(executor, "demo_find", {"query": "otters"})

    assert caught.value.kind == "config"


def test_wrong_arguments_are_refused_as_in_a_call(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Unsent())

    with pytest.raises(Fault, match='did you mean "query"'):
        explain(executor, "demo_find", {"qury": "otters"})
