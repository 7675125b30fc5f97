"""What a provider's model writes is paid for once: who can have what was asked for is asked, and a failure leads on."""

from __future__ import annotations

import json

import pytest

from tests.support.stubbed import Product, Stub, Upstreams

KEYS = {
    "EXA_API_KEY": "made-up-1",
    "LINKUP_API_KEY": "made-up-2",
    "PERPLEXITY_API_KEY": "made-up-3",
    "FIRECRAWL_API_KEY": "made-up-4",
}
PAGE = {"url": "https://example.org/holt", "title": "The Holt"}
STUBS: dict[str, Stub] = {
    "api.exa.ai/search": {"results": [{**PAGE, "summary": '{"founded": 1971}'}], "costDollars": {"total": 0.009}},
    "api.exa.ai/answer": {"answer": "Holding hands.", "citations": [PAGE]},
    "api.linkup.so": {
        "data": {"founded": 1971},
        "sources": [{"name": "The Holt", "url": PAGE["url"], "content": "Founded in 1971."}],
        "answer": "In kelp.",
    },
    "api.perplexity.ai": {"id": "s", "results": [{**PAGE, "snippet": "Ann Otter founded it.", "date": "2026-03-01"}]},
    "api.firecrawl.dev": {"success": True, "data": {"web": [{**PAGE, "json": {"founded": 1971}}]}},
}
SCHEMA = {"type": "object", "properties": {"founded": {"type": "integer"}}}
NO_CREDIT = (402, {}, {"error": "No more credits.", "tag": "NO_MORE_CREDITS"})


def keys(*names: str) -> dict[str, str]:
    """The variables of these providers."""
    return {f"{name}_API_KEY": KEYS[f"{name}_API_KEY"] for name in names}


@pytest.mark.parametrize(
    ("category", "served"),
    [("people", "perplexity"), ("financial report", "perplexity"), ("github", "firecrawl"), ("pdf", "firecrawl")],
)
async def test_only_who_has_such_pages_is_asked(category: str, served: str) -> None:
    upstreams = Upstreams(STUBS)

    answer = await Product(upstreams, keys("LINKUP", "PERPLEXITY", "FIRECRAWL")).answer(
        "structured_search", query="Ann Otter", category=category
    )

    assert answer["provider"] == served
    assert upstreams.providers() == [served]
    assert "notApplied" not in answer


async def test_where_nobody_has_such_pages_nothing_is_paid_and_it_is_told() -> None:
    upstreams = Upstreams(STUBS)

    answer = await Product(upstreams, keys("FIRECRAWL")).answer("structured_search", query="otters", category="people")

    assert upstreams.asked == []
    assert answer["results"] == []
    assert answer["notices"] == ["Firecrawl was not asked: these arguments ask for what it cannot have."]


async def test_data_of_each_page_stands_with_it_and_data_of_all_beside_them() -> None:
    of_each = await Product(Upstreams(STUBS), keys("FIRECRAWL")).answer("structured_search", query="x", schema=SCHEMA)
    of_all = await Product(Upstreams(STUBS), keys("LINKUP")).answer("structured_search", query="x", schema=SCHEMA)

    assert of_each["results"][0]["summary"] == {"founded": 1971}
    assert of_all["data"] == {"founded": 1971}
    assert of_all["results"][0]["highlights"] == ["Founded in 1971."]


async def test_a_schema_travels_to_linkup_as_a_text() -> None:
    upstreams = Upstreams(STUBS)

    await Product(upstreams, keys("LINKUP")).answer("structured_search", query="x", schema=SCHEMA)

    sent = json.loads(upstreams.asked[0].body or b"")
    assert json.loads(sent["structuredOutputSchema"]) == SCHEMA
    assert sent["outputType"] == "structured"


@pytest.mark.parametrize("tool", ["answer", "structured_search"])
async def test_used_up_credit_leads_to_the_next_provider_and_an_empty_answer_to_nobody(tool: str) -> None:
    failing = Upstreams(
        {**STUBS, "api.exa.ai": NO_CREDIT, "api.exa.ai/search": NO_CREDIT, "api.exa.ai/answer": NO_CREDIT}
    )
    empty = Upstreams({**STUBS, "api.exa.ai/search": {"results": []}, "api.exa.ai/answer": {"answer": ""}})

    after = await Product(failing, keys("EXA", "LINKUP")).answer(tool, query="How do otters sleep?")
    nothing = await Product(empty, keys("EXA", "LINKUP")).answer(tool, query="How do otters sleep?")

    assert after["provider"] == "linkup"
    assert failing.providers() == ["exa", "linkup"]
    assert nothing["provider"] == "exa"
    assert empty.providers() == ["exa"]


async def test_a_provider_that_was_asked_for_is_not_replaced() -> None:
    upstreams = Upstreams({**STUBS, "api.exa.ai/search": NO_CREDIT})

    result = await Product(upstreams, KEYS).call("structured_search", query="x", provider="exa")

    assert result["isError"]
    assert upstreams.providers() == ["exa"]
