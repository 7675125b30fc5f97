"""A new installation, in which no variable is set, answers every search but the two that a model writes.

Each upstream answers as in an example of its own spec, so that a stub has the shape to which the spec is held.
"""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core.diagnostics import Report
from specloom.server.catalogue import Selection, select
from specloom.specs.library import shipped_root
from specloom.specs.yaml import parse_source, to_plain
from tests.support.shipped import shipped_model
from tests.support.stubbed import Product, Stub, Upstreams, works

WRITTEN_BY_A_MODEL = ("answer", "structured_search")
NOWHERE = (503, {}, {})


def reply(provider: str, operation: str, step: str = "main") -> Stub:
    """What the upstream says in the first example of an operation that has rows."""
    path = shipped_root() / "providers.d" / f"{provider}.yaml"
    spec = to_plain(parse_source(str(path), path.read_bytes(), Report()).root)
    for one in spec["examples"]:
        if one.get("operation") == operation and (one.get("expect") or {}).get("rows") and step in one["replies"]:
            said = one["replies"][step]
            said = said[0] if isinstance(said, list) else said
            return said["json"] if "json" in said else said["text"]
    raise LookupError(f"{provider}.{operation} has no example with rows")


PAPER = {"paperId": "a", "title": "Otters", "externalIds": {"DOI": "10.1234/a"}, "citationCount": 1}
PATENT = """<html><head><meta name="DC.title" content="Otter float"></head><body><article>
<span itemprop="title">Otter float</span><span itemprop="publicationNumber">US9999999B2</span>
</article></body></html>"""
FOUND_PATENT = {"url": "https://patents.google.com/patent/US9999999B2/en", "title": "Otter float"}
SEARCHES: dict[str, tuple[dict[str, Any], dict[str, Stub], str]] = {
    "web_search": ({"query": "otters"}, {"api.you.com": reply("youcom_keyless", "web")}, "results"),
    "image_search": ({"query": "otters"}, {"api.openverse.org": reply("openverse", "images")}, "images"),
    "news_search": ({"query": "otters"}, {"api.you.com": reply("youcom_keyless", "news")}, "articles"),
    "academic_search": ({"query": "otters"}, {"api.crossref.org": works("Otters")}, "papers"),
    "citation_graph": (
        {"paper": "10.1234/a", "direction": "cited_by"},
        {
            "paper/batch": [{"paperId": "5eed", "title": "Seed"}],
            "/citations": {"data": [{"citingPaper": PAPER, "intents": [], "isInfluential": False}]},
        },
        "citedBy",
    ),
    "patent_search": (
        {"query": "otter float"},
        {
            "api.you.com": {"results": {"web": [FOUND_PATENT]}},
            "google.com/patent/": PATENT,
        },
        "patents",
    ),
    "filing_search": (
        {"query": "Otter annual report 2023"},
        {
            "/api/entities?": reply("xbrl_filings", "filings", "entities"),
            "/filings?": reply("xbrl_filings", "filings", "filings"),
        },
        "filings",
    ),
    "legal_search": ({"query": "otters"}, {"courtlistener": reply("courtlistener", "cases")}, "cases"),
    "econ_search": ({"query": "Otter population"}, {"worldbank": reply("worldbank", "series")}, "results"),
    "clinical_search": ({"query": "otters"}, {"clinicaltrials": reply("clinicaltrials", "trials")}, "trials"),
    "local_search": (
        {"query": "coffee shops", "latitude": 52.5, "longitude": 13.4},
        {"photon.komoot.io": reply("photon", "places", "around")},
        "places",
    ),
    "awesome_list_search": ({"query": "otters"}, {"ecosyste.ms": reply("ecosystems", "awesome_lists")}, "lists"),
    "monarch_search": (
        {"operation": "entity", "entityId": "MONDO:1"},
        {"monarchinitiative": reply("monarch", "entities", "one")},
        "results",
    ),
    "paper_fulltext": (
        {"identifier": "10.1000/otters.1"},
        {"/search?": reply("europepmc", "fulltext", "found"), "fullTextXML": reply("europepmc", "fulltext", "text")},
        "content",
    ),
    "company_recon": ({"target": "example.org"}, {"crt.sh": reply("crtsh", "certificates")}, "cert_sans"),
}


def test_every_search_is_driven_but_what_a_model_writes() -> None:
    listed = select(shipped_model(), Selection(["research"]), {})

    assert len(SEARCHES) == 15
    assert [tool for tool in (*SEARCHES, *WRITTEN_BY_A_MODEL) if tool not in listed] == list(WRITTEN_BY_A_MODEL)


@pytest.mark.parametrize("tool", SEARCHES)
async def test_a_new_installation_answers(tool: str) -> None:
    arguments, stubs, rows = SEARCHES[tool]

    answer = await Product(Upstreams(stubs, otherwise=NOWHERE)).answer(tool, **arguments)

    assert answer[rows], answer


NEWS = {
    "youcom_keyless": {"api.you.com": reply("youcom_keyless", "news")},
    "google_news": {"news.google.com": reply("google_news", "news")},
    "bing_news": {"www.bing.com": reply("bing_news", "news")},
    "gdelt": {"gdeltproject.org": reply("gdelt", "news")},
    "hackernews": {"hn.algolia.com": reply("hackernews", "news")},
}


@pytest.mark.parametrize("provider", NEWS)
async def test_news_come_from_whoever_of_the_keyless_ones_is_left(provider: str) -> None:
    upstreams = Upstreams(NEWS[provider], otherwise=NOWHERE)

    result = await Product(upstreams).call("news_search", query="otters")

    assert result["structuredContent"]["articles"]
    routing = result["_meta"]["routing"]
    assert routing["provider_used"] == provider
    assert routing["providers_attempted"] == list(NEWS)[: list(NEWS).index(provider) + 1]


async def test_where_nobody_answers_each_is_named_with_its_failure() -> None:
    result = await Product(Upstreams(otherwise=NOWHERE)).call("news_search", query="otters")

    assert result["isError"]
    told = result["content"][0]["text"]
    assert [name for name in NEWS if f"{name}: " not in told] == []
