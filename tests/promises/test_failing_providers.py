"""Whoever of a tool's providers fails, its answer names who it was and how; generated over all tools that search."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from specloom.core import Answer, Fault
from specloom.model import Model, questions
from specloom.runtime.degradation import LATE, PHRASES
from specloom.specs import to_plain
from tests.support.shipped import shipped_model, shipped_specs
from tests.support.stubbed import Product, Upstreams

PROCEDURES = {"paper_fulltext", "search_and_scrape"}
"""Tools that search by a procedure."""
APART = {"doiget_", "monitor_"}
"""Beginnings of tools whose answers have a contract of their own, or that search only what was saved."""
FAULTS = {
    "500": ("upstream_unavailable", False),
    "429": ("rate_limited", False),
    "late": ("upstream_unavailable", True),
}
SENT = {"500": (500, {}, {}), "429": (429, {}, {}), "late": Fault("network", "no answer in time", late=True)}
"""The same on the wire."""


def searching() -> list[str]:
    """The tools that ask providers for something that is searched."""
    return [
        name
        for name, tool in shipped_model().tools.items()
        if (any(questions(tool.plan)) or name in PROCEDURES) and not any(name.startswith(one) for one in APART)
    ]


@functools.cache
def at_once() -> Model:
    """The shipped specs, which ask a second time without a pause."""
    model = shipped_model()
    providers = {
        name: replace(one, service=replace(one.service, retry=one.service.retry and replace(one.service.retry, wait=0)))
        for name, one in model.providers.items()
    }
    return replace(model, providers=providers)


@functools.cache
def everything_set() -> dict[str, str]:
    """An environment in which every provider is configured and nothing bounds what is asked."""
    environ = {"SPECLOOM_MAX_CALLS_PER_QUESTION": "0"}
    for provider in shipped_model().providers.values():
        environ[f"{provider.name.upper()}_RATE"] = "1000/s"
        for one in provider.settings.values():
            if one.required:
                kinds = {"URL": "https://upstream.example.org", "AIL": "ann@example.org"}
                environ[one.name] = kinds.get(one.name[-3:], "made-up")
    return environ


def arguments_of(tool: str) -> dict[str, Any]:
    """What the first example of a tool asks, of nobody in particular."""
    spec = to_plain(shipped_specs().library.specs["tool", tool].root)
    return {name: value for name, value in spec["examples"][0]["args"].items() if name != "provider"}


def text_of(result: dict[str, Any]) -> str:
    """All that the reader of a result is told."""
    texts = [one.get("text", "") for one in result["content"]]
    return "\n".join([*texts, json.dumps(result.get("structuredContent", {}), ensure_ascii=False)])


def title_of(provider: str) -> str:
    """The name of a provider as it is told."""
    return shipped_model().providers[provider].title


async def ask_scripted(
    tool: str, answer: Callable[[str], Answer | Fault], **more: str
) -> tuple[dict[str, Any], list[str]]:
    """The result of a tool whose providers answer so, and who was asked."""
    product, asked = Product(Upstreams(), everything_set()), []

    async def ask(provider: str, *_: Any, **__: Any) -> Answer:
        asked.append(provider)
        found = answer(provider)
        if isinstance(found, Fault):
            raise found
        return found

    product.executor.upstreams.ask = ask  # type: ignore[method-assign]
    return await product.call(tool, **arguments_of(tool), **more), list(dict.fromkeys(asked))


def failing(provider: str, how: str) -> Fault:
    """How a provider fails."""
    kind, late = FAULTS[how]
    message = f"{title_of(provider)} {LATE if late else PHRASES[kind]}"
    return Fault(kind, message, provider=provider, late=late)


def says(told: str, provider: str, how: str) -> bool:
    """Whether an answer names a provider and says how it failed."""
    kind, late = FAULTS[how]
    return title_of(provider) in told and (LATE if late else PHRASES[kind]) in told


@pytest.mark.parametrize("how", FAULTS)
@pytest.mark.parametrize("tool", searching())
async def test_where_everybody_fails_each_of_them_is_named_with_how(tool: str, how: str) -> None:
    upstreams = Upstreams(otherwise=SENT[how])

    result = await Product(upstreams, everything_set(), model=at_once()).call(tool, **arguments_of(tool))

    told, asked = text_of(result), set(upstreams.providers()) - {""}
    assert asked
    assert [name for name in sorted(asked) if name not in told and title_of(name) not in told] == []
    marks = {"500": ("HTTP 500", "failed"), "429": ("slow down",), "late": ("in time", "cannot be reached")}[how]
    assert any(mark in told for mark in marks)


@pytest.mark.parametrize("tool", searching())
async def test_whoever_of_them_fails_is_named_with_how_where_the_others_have_nothing(tool: str) -> None:
    _, asked = await ask_scripted(tool, lambda _: Answer())

    for provider in asked:
        for how in FAULTS:
            result, _ = await ask_scripted(
                tool, lambda name, fails=provider, how=how: failing(name, how) if name == fails else Answer()
            )
            assert says(text_of(result), provider, how), (provider, how, text_of(result)[:500])


@pytest.mark.parametrize("tool", searching())
async def test_where_nobody_has_anything_it_is_told_who_was_asked(tool: str) -> None:
    result, asked = await ask_scripted(tool, lambda _: Answer())

    routing = result.get("_meta", {}).get("routing", {})
    told = text_of(result)
    named = {*routing.get("providers_attempted", ()), *(name for name in asked if name in told)}
    assert [name for name in asked if name not in named] == []


@pytest.mark.parametrize(
    "tool",
    [name for name in searching() if "provider" in shipped_model().tools[name].inputs and name != "monarch_search"],
)
async def test_who_was_asked_by_name_is_named_with_how_it_failed(tool: str) -> None:
    for provider in shipped_model().tools[tool].inputs["provider"].choices:
        for how in FAULTS:
            result, asked = await ask_scripted(tool, lambda name, how=how: failing(name, how), provider=provider)
            assert not asked or all(says(text_of(result), name, how) for name in asked), (provider, how)


async def test_who_has_nothing_of_the_kind_asked_for_is_no_alternative_to_those_who_failed() -> None:
    product = Product(Upstreams(), model=at_once())

    result = await product.call("academic_search", query="otters")

    told = result["content"][0]["text"]
    error = json.loads(told[told.index("{") :])["error"]
    assert {"crossref", "pubmed"} <= {one.partition(":")[0] for one in error["detail"].split("; ")}
    assert error.get("alternatives", []) == []
