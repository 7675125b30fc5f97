"""A dry run of every shipped tool tells whom it would ask and in which order: without keys, with each, and with all."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import pytest

from specloom.authoring.coverage import maps_of
from specloom.authoring.explain import Explanation, explain
from specloom.core.faults import Fault
from specloom.model.model import Model
from specloom.model.provider import Provider
from specloom.model.tool import questions
from specloom.runtime import Unsent
from specloom.runtime.executor import Executor
from specloom.specs.yaml import to_plain
from tests.support.shipped import shipped_specs

MADE_UP = {"url": "https://instance.example.org", "credentials": "ann:made-up", "headers": "X-Key: made-up"}

OF_WHAT_IS_KEPT = {"monitor_query_check"}
"""Tools that ask only about what is kept of their caller, which a dry run does not read."""


@functools.cache
def shipped() -> tuple[Model, dict[str, dict[str, Any]]]:
    """The shipped model, and for each tool that asks providers the arguments of its first example with an answer."""
    model, library, _ = shipped_specs()
    arguments = {}
    for name, tool in model.tools.items():
        if not any(questions(tool.plan)) or name in OF_WHAT_IS_KEPT:
            continue
        said = [to_plain(one) for one in maps_of(library.of("tool")[name].root.get("examples"))]
        given = (one["args"] for one in said if "expect" in one and "error" not in one["expect"])
        first = next(given, None)
        if first is not None:
            arguments[name] = {key: value for key, value in first.items() if key != "provider"}
    return model, arguments


TOOLS = sorted(shipped()[1])


def keys_of(provider: Provider) -> dict[str, str]:
    return {one.name: MADE_UP.get(one.kind, "made-up") for one in provider.settings.values() if one.required}


@functools.cache
def executor(*providers: str) -> Executor:
    """An executor for which the named providers have their keys, and those without keys need none."""
    model = shipped()[0]
    environ: dict[str, str] = {}
    for name in providers:
        environ |= keys_of(model.providers[name])
    return Executor(model, environ=environ, sender=Unsent())


def dry_run(name: str, *providers: str) -> Explanation | Fault:
    try:
        return explain(executor(*providers), name, shipped()[1][name])
    except Fault as fault:
        return fault


def offered(name: str) -> dict[str, list[str]]:
    """For each capability that the tool itself asks, who offers it."""
    model = shipped()[0]
    wanted = {one.operation for one in questions(model.tools[name].plan)}
    return {one: list(model.offering(one)) for one in wanted}


def check_order(name: str, found: Explanation) -> None:
    """Within an operation, providers are asked in the order of its capability, but for those that know more filters."""
    model, arguments = shipped()
    capabilities: Mapping[str, Any] = model.capabilities
    hints = model.tools[name].hints
    is_filtered = hints is not None and any(one in arguments[name] for one in hints.filters)
    ranked = {one.operation for one in model.tools[name].plan if one.able_first and is_filtered}
    for operation in set(offered(name)) - ranked:
        order = capabilities[operation].order
        asked = [one.provider for one in found.asked if one.operation == operation and one.provider in order]
        ranks = [order.index(provider) for provider in dict.fromkeys(asked)]
        assert ranks == sorted(ranks), (name, operation, asked)


def check_complete(name: str, found: Explanation) -> None:
    """Whoever could be asked is either asked or left out with a reason."""
    told = {one.provider for one in found.asked} | {provider for provider, _ in found.left_out}
    assert {provider for names in offered(name).values() for provider in names} <= told


@pytest.mark.parametrize("name", TOOLS)
def test_without_keys_only_those_are_asked_that_need_none(name: str) -> None:
    model = shipped()[0]

    found = dry_run(name)

    needy = {provider for names in offered(name).values() for provider in names if keys_of(model.providers[provider])}
    if isinstance(found, Fault):
        assert found.kind == "config"
        return
    check_order(name, found)
    check_complete(name, found)
    assert not needy & {one.provider for one in found.asked}
    why = dict(found.left_out)
    for provider in needy:
        first = next(iter(keys_of(model.providers[provider])))
        assert why[provider].startswith("not configured; set ")
        assert first in why[provider]


@pytest.mark.parametrize("name", TOOLS)
def test_with_one_key_that_provider_is_configured_and_the_others_are_not(name: str) -> None:
    model = shipped()[0]
    for provider in sorted({one for names in offered(name).values() for one in names}):
        keys = keys_of(model.providers[provider])
        if not keys:
            continue

        found = dry_run(name, provider)

        if isinstance(found, Fault):
            # Who is in no route is asked only by name.
            routed = {one for operation in offered(name) for one in model.capabilities[operation].order}
            assert (found.kind, provider in routed) == ("config", False)
            continue
        check_order(name, found)
        check_complete(name, found)
        assert "not configured" not in dict(found.left_out).get(provider, ""), (name, provider)


@pytest.mark.parametrize("name", TOOLS)
def test_with_all_keys_everybody_is_configured_and_the_order_is_that_of_the_capability(name: str) -> None:
    found = dry_run(name, *shipped()[0].providers)

    assert isinstance(found, Explanation)
    assert found.asked
    check_order(name, found)
    check_complete(name, found)
    assert not [why for _, why in found.left_out if "not configured" in why]


@pytest.mark.parametrize("name", TOOLS)
def test_every_provider_can_be_asked_by_name_and_is_then_the_only_one(name: str) -> None:
    model, arguments = shipped()
    if "provider" not in model.tools[name].inputs:
        pytest.skip("it has no input `provider`")
    all_keys = executor(*model.providers)
    reached = set()
    for provider in model.tools[name].inputs["provider"].choices:
        try:
            found = explain(all_keys, name, {**arguments[name], "provider": provider})
        except Fault as fault:
            # What one provider is asked with differs, as the id of a series does.
            assert fault.kind in {"validation", "config"}, (name, provider)  # noqa: PT017 - both ways to end are fine
            continue

        assert {one.provider for one in found.asked} == {provider}, (name, provider)
        reached.add(provider)
    assert reached
