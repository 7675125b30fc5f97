"""Every flag, label and status that the trust tools publish is said by a tool when it is called.

The values are those of the published output schemas, and of the closed lists of the code where a schema keeps itself
short. What says them are the examples of the tools, which run through arguments, plan, procedure and the specs of the
registries. A value that nothing says is either dead or untested.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest
import trust_replay
import yaml

from specloom.authoring.examples.compare import Example
from specloom.authoring.examples.tools import run_tool_example
from specloom.core.diagnostics import Report
from specloom.domains.text.hosts import TIERS
from specloom.domains.text.identifiers import KINDS
from specloom.domains.trust.bibliography.documents import FORMATS
from specloom.domains.trust.bibliography.formatting import STYLES
from specloom.domains.trust.brand.findings import SLOTS
from specloom.domains.trust.citations.match import Confidence, Verdict
from specloom.domains.trust.claims.coverage import LABELS
from specloom.domains.trust.claims.cues import CUE_KINDS
from specloom.domains.trust.claims.distortions import DISTORTION_KINDS
from specloom.domains.trust.records import AuditFlag, ClaimBasis
from specloom.domains.trust.sources.classify import AUTHORITY_TIERS, DOMAIN_CATEGORIES, SOURCE_TYPES
from specloom.domains.trust.sources.recommendations import STANCES
from specloom.specs.library import shipped_root
from specloom.specs.yaml import Listing, Map, to_plain
from tests.support.shipped import shipped_model, shipped_specs

TOOLS = (
    "verify_citation",
    "audit_bibliography",
    "format_bibliography",
    "verify_recommendation",
    "archive_source",
    "brand_research",
)
CROSSREF = yaml.safe_load((shipped_root() / "providers.d" / "crossref.yaml").read_text("utf-8"))
NOTICES = set(CROSSREF["tables"]["notice"].values())

CLOSED: Mapping[tuple[str, str], set[str]] = {
    ("verify_citation", "/identifier/kind"): set(KINDS),
    ("verify_citation", "/matchConfidence"): set(get_args(Confidence)),
    ("verify_citation", "/comparison/field"): {"title", "authors", "year", "venue", "volume", "issue", "pages"},
    ("verify_citation", "/comparison/verdict"): set(get_args(Verdict)),
    ("verify_citation", "/retractionStatus/kind"): NOTICES,
    ("verify_citation", "/retractionStatus/source"): {"publisher", "retraction-watch", "europepmc"},
    ("verify_citation", "/claimSupport"): {*LABELS, "source_unavailable"},
    ("verify_citation", "/claimBasis"): set(get_args(ClaimBasis)),
    ("verify_citation", "/contrastCues/kind"): set(CUE_KINDS),
    ("verify_citation", "/distortionCues/kind"): set(DISTORTION_KINDS),
    ("audit_bibliography", "/source"): {"entries", "session", *(f"bibliography:{name}" for name in FORMATS)},
    ("audit_bibliography", "/entries/flags"): set(get_args(AuditFlag)),
    ("audit_bibliography", "/entries/comparison/verdict"): set(get_args(Verdict)),
    ("audit_bibliography", "/entries/retractionStatus/kind"): NOTICES,
    ("audit_bibliography", "/entries/claimSupport"): {*LABELS, "source_unavailable"},
    ("audit_bibliography", "/entries/claimBasis"): set(get_args(ClaimBasis)),
    ("format_bibliography", "/style"): set(STYLES),
    ("verify_recommendation", "/recommendations/domainReputation/tier"): set(TIERS),
    ("verify_recommendation", "/recommendations/corroborationSearches/lens"): {"news", "tech", "investigative_records"},
    ("verify_recommendation", "/recommendations/corroborationSearches/topResults/stance"): set(STANCES),
    ("brand_research", "/colors/palette/role"): {*SLOTS, "neutral"},
}


def enums(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Every value of every closed list of an output schema, with where it stands."""
    for value in schema.get("enum", ()):
        yield path, value
    for name, inner in schema.get("properties", {}).items():
        yield from enums(inner, f"{path}/{name}")
    if isinstance(schema.get("items"), Mapping):
        yield from enums(schema["items"], path)


def said(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every text of an answer, with where it stands."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from said(inner, f"{path}/{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from said(inner, path)
    else:
        yield path, value


@functools.cache
def shown(name: str) -> frozenset[tuple[str, str]]:
    """Every text in the answers of a tool to its examples, with where it stands."""
    tool, listed = shipped_model().tools[name], shipped_specs().library.of("tool")[name].root.get("examples")
    assert isinstance(listed, Listing)
    found: set[tuple[str, str]] = set()
    for item in listed.items:
        assert isinstance(item, Map)
        example = Example(item, to_plain(item), Report())
        trace = run_tool_example(example, tool, shipped_model()) if "expect" in item else None
        if trace is not None and trace.outcome is not None:
            found |= {(path, value) for path, value in said(trace.outcome.answer) if isinstance(value, str)}
    return frozenset(found)


@pytest.mark.parametrize("name", TOOLS)
def test_every_published_value_is_said(name: str) -> None:
    published = set(enums(shipped_model().tools[name].output_schema))

    missing = published - shown(name)

    assert not missing, f"no example of {name} says {sorted(missing)}"
    assert published or name == "format_bibliography"


@pytest.mark.parametrize(("name", "path"), CLOSED)
def test_every_value_of_the_closed_lists_is_said_and_no_other(name: str, path: str) -> None:
    values = {value for at, value in shown(name) if at == path}

    assert values == CLOSED[name, path]


def test_a_value_that_nothing_says_is_found() -> None:
    schema = {"properties": {"entries": {"items": {"properties": {"flags": {"items": {"enum": ["one", "two"]}}}}}}}

    assert set(enums(schema)) == {("/entries/flags", "one"), ("/entries/flags", "two")}
    assert set(said({"entries": [{"flags": ["one"]}]})) == {("/entries/flags", "one")}


# --- how a page is labelled ---

PAGES = (
    "https://arxiv.org/abs/1706.03762",
    "https://docs.stripe.com/api",
    "https://www.courtlistener.com/opinion/1/",
    "https://www.ft.com/content/1",
    "https://www.mayoclinic.org/x",
    "https://someone.substack.com/p/1",
    "https://lobste.rs/s/1",
    "https://wiki.archlinux.org/title/Ei",
    "https://mastodon.social/@someone/1",
    "https://babylonbee.com/news/1",
    "https://unheard-of.example/",
)


def test_every_label_of_a_page_is_said_by_the_tool_that_reads_it() -> None:
    async def read(url: str) -> dict[str, Any]:
        world = trust_replay.World(pages={url: "Otters sleep on their backs. " * 40})
        return await trust_replay.call(shipped_model(), "scrape_page", {"url": url}, world, ())

    answers = [asyncio.run(read(url)) for url in PAGES]

    assert {answer["sourceType"] for answer in answers} == set(SOURCE_TYPES)
    assert {answer["authorityTier"] for answer in answers} == set(AUTHORITY_TIERS)
    assert {answer["domainCategory"] for answer in answers} == set(DOMAIN_CATEGORIES)
