"""P2: two calls that could differ in result never share a key; what a key leaves out is proved to change nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from specloom.authoring.explain import explain
from specloom.core.faults import Fault
from specloom.model import BUDGET
from specloom.model.model import Model
from specloom.model.tool import Input, Tool
from specloom.runtime.arguments import Arguments, parse_arguments
from specloom.runtime.executor import Executor
from specloom.runtime.recordings import ReplaySender
from tests.support.demo_specs import PROVIDER, TOOL, codes, demo_executor, weave_demo, write_demo
from tests.support.shipped import shipped_model

Key = Callable[[Tool, Arguments], str]
TEXTS = (
    "en",
    "de",
    "US",
    "fr",
    "example.org",
    "example.org/a",
    "www.example.com",
    "2024",
    "2025-01-31",
    "a b",
    "Ä",
    "10.1000/x",
)


@pytest.fixture(scope="module")
def shipped() -> Model:
    return shipped_model()


@pytest.fixture(scope="module")
def engine(shipped: Model) -> Executor:
    return make(shipped)


def text_of(one: Input) -> st.SearchStrategy[str]:
    """Texts that an input takes, as a caller who repairs nothing would send them."""
    fitting = [text for text in TEXTS if not one.pattern or re.fullmatch(one.pattern, text)]
    if one.choices:
        return st.sampled_from(sorted(one.choices)[:6])
    least, most = one.min_length or 1, one.max_length or 300
    if one.pattern:
        found = st.from_regex(re.compile(one.pattern, re.ASCII), fullmatch=True)
        found = st.sampled_from(fitting) if fitting else found.filter(lambda text: text == text.strip() != "")
    else:
        found = st.one_of(st.sampled_from(TEXTS), st.text(min_size=1, max_size=12).map(str.strip).filter(bool))
    return found.filter(lambda text: least <= len(text) <= most)


def value_of(one: Input) -> st.SearchStrategy[Any]:
    if one.kind == "boolean":
        return st.booleans()
    if one.kind == "integer":
        low = int(one.minimum if one.minimum is not None else -3)
        # Beyond the bounds as well where numbers are moved: the answer tells what was asked for.
        return st.integers(low - one.clamp, int(one.maximum if one.maximum is not None else low + 100) + one.clamp)
    if one.kind == "number":
        low = float(one.minimum if one.minimum is not None else -3)
        return st.floats(low, float(one.maximum if one.maximum is not None else low + 100))
    if one.kind == "list":
        return st.lists(text_of(one), min_size=1, max_size=min(3, one.max_items or 3))
    return text_of(one)


def calls_of(tool: Tool) -> st.SearchStrategy[dict[str, Any]]:
    needed = {one.name: value_of(one) for one in tool.inputs.values() if one.required}
    others = {one.name: value_of(one) for one in tool.inputs.values() if not one.required}
    return st.fixed_dictionaries(needed, optional=others)


def is_unsaid(one: Input, value: Any) -> bool:
    """Whether a number says that none was given: a zero where at least one is wanted."""
    return one.clamp and one.default is not None and (one.minimum or 0) > 0 and value == 0


def assert_keys_tell_apart(tool: Tool, first: dict[str, Any], second: dict[str, Any], key: Key) -> None:
    """Calls have one key if and only if they agree in all inputs but the ignored ones."""
    assert tool.cache is not None
    ignored = tool.cache.ignore
    seen = [
        {name: value for name, value in raw.items() if name not in ignored and not is_unsaid(tool.inputs[name], value)}
        for raw in (first, second)
    ]
    try:
        keys = [key(tool, parse_arguments(tool, raw)) for raw in (first, second)]
    except Fault:
        assume(False)  # the tool refuses these arguments together
    assert (keys[0] == keys[1]) == (seen[0] == seen[1]), f"{first} and {second}"


def make(model: Model, **environ: str) -> Executor:
    return Executor(model, environ=environ, sender=ReplaySender(Path("nowhere")))


@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(data=st.data())
def test_calls_that_differ_in_an_input_have_different_keys(
    shipped: Model, engine: Executor, data: st.DataObject
) -> None:
    tool = data.draw(st.sampled_from([tool for tool in shipped.tools.values() if tool.cache]))
    first = data.draw(calls_of(tool))
    changed = data.draw(calls_of(tool))
    # Most calls that collide would differ in one input only.
    taken = data.draw(st.sets(st.sampled_from(sorted(changed)), max_size=2)) if changed else set()
    second = {**first, **{name: changed[name] for name in taken}}
    dropped = data.draw(st.sets(st.sampled_from(sorted(second)), max_size=1)) if second else set()
    second = {name: value for name, value in second.items() if name not in dropped or tool.inputs[name].required}

    assert_keys_tell_apart(tool, first, second, engine.cache_key)


def test_every_input_that_is_not_ignored_is_in_the_key_of_every_shipped_tool(shipped: Model) -> None:
    kept = [tool for tool in shipped.tools.values() if tool.cache]

    ignored = {name for tool in kept if tool.cache for name in tool.cache.ignore}

    assert kept, "no shipped tool is kept, so nothing was looked at"
    # A budget is applied to what is kept, and never to what is asked.
    ignored -= {BUDGET}
    assert all(
        name == BUDGET or (tool.record and name == tool.record[0])
        for tool in kept
        if tool.cache
        for name in tool.cache.ignore
    ), ignored


@pytest.mark.parametrize("forgotten", ["num_results", "time_range", "lens", "query"])
def test_a_key_that_forgets_an_input_is_found(tmp_path: Path, forgotten: str) -> None:
    executor = demo_executor(write_demo(tmp_path))
    tool = executor.tool("demo_find")
    first = {"query": "a", "num_results": 1, "time_range": "day", "lens": "demo_field"}
    second = {**first, forgotten: {"num_results": 2, "time_range": "week", "query": "b"}.get(forgotten)}

    def broken(tool: Tool, arguments: Arguments) -> str:
        rest = {name: value for name, value in arguments.given.items() if name != forgotten}
        return executor.cache_key(tool, Arguments(rest, {}, arguments.explicit - {forgotten}))

    with pytest.raises(AssertionError):
        assert_keys_tell_apart(tool, first, second, broken)
    assert_keys_tell_apart(tool, first, {**second, "query": "c"}, executor.cache_key)


def test_an_ignored_input_does_not_part_calls(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path))

    keys = {
        found.cache.key
        for session in ("one", "two", None)
        if (found := explain(executor, "demo_find", {"query": "a", "session": session})).cache
    }

    assert len(keys) == 1


def test_a_number_that_was_moved_to_its_bound_has_a_key_of_its_own(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path))
    tool = executor.tool("demo_find")

    keys = {
        executor.cache_key(tool, parse_arguments(tool, {"query": "a", "num_results": count})) for count in (10, 11, 12)
    }

    assert len(keys) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"DEMO_KEY": "k1"}, {"DEMO_KEY": "k2"}),
        ({"DEMO_URL": "https://a.example.org"}, {"DEMO_URL": "https://b.example.org"}),
        ({"SEARCH_ROUTING": "demo"}, {"SEARCH_ROUTING": "nobody"}),
    ],
)
def test_settings_and_routes_are_in_the_key(tmp_path: Path, one: dict[str, str], other: dict[str, str]) -> None:
    root = write_demo(tmp_path)
    keys = set()
    for environ in (one, other):
        executor = demo_executor(root, environ=environ)
        tool = executor.tool("demo_find")
        keys.add(executor.cache_key(tool, parse_arguments(tool, {"query": "a"})))

    assert len(keys) == 2


def test_an_edited_spec_has_other_keys_and_so_have_tenants_where_they_are_parted(tmp_path: Path) -> None:
    root = write_demo(tmp_path / "one")
    edited = write_demo(tmp_path / "two", {PROVIDER: [("q: =args.query", "q: =upper(args.query)")]})
    keys = set()
    for folder, owner in ((root, "a:ann"), (root, "a:bob"), (root, "b:ann"), (root, ""), (edited, "")):
        executor = demo_executor(folder, isolate=True)
        tool = executor.tool("demo_find")
        keys.add(executor.cache_key(tool, parse_arguments(tool, {"query": "a"}), owner))

    assert len(keys) == 4


@pytest.mark.parametrize("used", ["query", "num_results", "time_range", "lens"])
def test_a_spec_that_ignores_an_input_which_reaches_a_request_or_the_answer_is_refused(
    tmp_path: Path, used: str
) -> None:
    root = write_demo(tmp_path, {TOOL: [("ignore: [session]", f"ignore: [session, {used}]")]})

    _, _, report = weave_demo(root)

    assert "E131" in codes(report)
    assert any(repr(used) in one.message for one in report.errors)


def test_an_input_that_only_an_operation_takes_without_using_may_be_ignored(tmp_path: Path) -> None:
    edits = {
        PROVIDER: [("          since: =lookup('since', args.time_range)\n", ""), (", since: w}", "}")],
        TOOL: [("ignore: [session]", "ignore: [session, time_range]")],
    }

    _, _, report = weave_demo(write_demo(tmp_path, edits))

    assert "E131" not in codes(report)
