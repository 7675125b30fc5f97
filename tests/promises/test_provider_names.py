"""A model finds the names that `provider` takes in the list of tools, without provoking an error (D3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specloom.runtime import Executor
from specloom.server.catalogue import MOST_NAMED, Catalogue, Selection, make_catalogue
from specloom.server.connection import Connection
from tests.support.server_process import initialize, request
from tests.support.shipped import shipped_model
from tests.support.stubbed import Product, Upstreams

NONE: dict[str, str] = {}
SOME = {"BRAVE_API_KEY": "made-up", "OPENALEX_EMAIL": "ann@example.org", "FRED_API_KEY": "made-up"}
LONG = {"academic_search", "news_search", "patent_search", "search_and_scrape", "web_search"}
"""Tools with more providers than the list of tools names, for what that would cost every client."""


def listed(environ: dict[str, str], toolset: str = "research") -> dict[str, dict[str, Any]]:
    """The tools with a `provider`, as `tools/list` gives them to a client."""
    catalogue: Catalogue = make_catalogue(shipped_model(), Selection([toolset]), environ)
    sent: list[bytes] = []
    connection = Connection(catalogue, sent.append)
    connection.handle(json.dumps(initialize()).encode())
    reply = connection.handle(json.dumps(request(1, "tools/list")).encode())
    frames = [json.loads(one) for one in [*sent, reply] if isinstance(one, bytes)]
    tools = next(one["result"]["tools"] for one in frames if "tools" in one.get("result", {}))
    return {one["name"]: one for one in tools if "provider" in one["inputSchema"]["properties"]}


def enum_of(tool: dict[str, Any]) -> list[str]:
    """The names that the schema of a tool publishes; none where it publishes none."""
    return list(tool["inputSchema"]["properties"]["provider"].get("enum", ()))


@pytest.mark.parametrize("environ", [NONE, SOME])
def test_names_that_a_schema_publishes_are_those_that_can_be_asked(environ: dict[str, str]) -> None:
    executor = Executor(shipped_model(), environ=environ, sender=Upstreams(), clock=lambda: 0.0)

    for name, tool in listed(environ).items():
        assert set(enum_of(tool)) <= set(executor.configured), name


@pytest.mark.parametrize("environ", [NONE, SOME])
async def test_names_are_published_where_they_are_few_and_else_all_told_by_one_error(environ: dict[str, str]) -> None:
    product = Product(Upstreams(), environ)
    configured = product.executor.configured
    silent = set()

    for name, tool in listed(environ).items():
        # What else is wrong with the call is told behind the provider, or the name is what is wrong with it.
        told = (await product.call(name, query="otters", provider="nobody"))["content"][0]["text"]
        known = [one for one in shipped_model().providers if one in told.replace(",", " ").split()]
        if not enum_of(tool):
            silent.add(name)
            assert len([one for one in known if one in configured]) > MOST_NAMED, (name, told)

    assert silent == LONG


async def test_a_tool_that_takes_providers_of_several_capabilities_names_each_once() -> None:
    assert enum_of(listed(NONE)["monarch_search"]) == ["monarch"]
