"""Sources of a session: one entry for one thing, whoever found it; how widely they spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from specloom.core import canonical_url
from specloom.domains.text import find_doi, to_host
from specloom.plugins.records import record

from .session import ResearchSession, SessionSource, SitedSource

MOST_SOURCES = 500
"""Sources that one session holds; what is found beyond that is counted."""

MOST_STEPS = 20
"""Steps beside the first one that a source remembers to have been found in."""

LONGEST = {"url": 2048, "title": 500, "author": 600, "site": 300, "date": 40, "doi": 200}
"""Characters of a field that are kept."""

_ADDRESSES = ("url", "link", "pdfUrl", "sourceUrl", "website")
_TITLES = ("title", "name", "caseName", "label", "subjectLabel")
_AUTHORS = ("author", "authors", "inventor", "inventors", "creator")
_SITES = ("journal", "site")
_DOIS = ("doi", "detectedDoi")
_BEFORE_A_SITE = (" - ", " | ", " – ", " — ", " · ", " :: ")
_DATES = (
    "publishedAt", "published_at", "publishedDate", "published", "date", "filingDate", "dateFiled", "publicationDate",
    "granted", "filed", "year",
)  # fmt: skip


def merge_sources(session: ResearchSession, found: Iterable[SitedSource]) -> ResearchSession:
    """The session with these sources among its own: known ones learn what they lacked, new ones come last."""
    sources = list(session.sources)
    at = {identity: place for place, source in enumerate(sources) for identity in identities(source)}
    more = session.more_sources
    for source in found:
        known = next((at[identity] for identity in identities(source) if identity in at), None)
        if known is not None:
            sources[known] = _join(sources[known], source)
        elif len(sources) < MOST_SOURCES:
            known = len(sources)
            sources.append(source)
        else:
            more += 1
            continue
        at.update(dict.fromkeys(identities(sources[known]), known))
    return replace(session, sources=sources, more_sources=more)


def _join(known: SitedSource, found: SitedSource) -> SitedSource:
    """What was known first, completed by what was found later."""
    return replace(
        known,
        title=found.title if _is_cut_or_longer(known.title, found.title) else known.title,
        kind=known.kind or found.kind,
        author=known.author or found.author,
        site=known.site or found.site,
        # A later and more exact date of the same year completes a bare year.
        date=found.date if (found.date or "").startswith(known.date or "") else known.date,
        doi=known.doi or found.doi,
        found_in=known.found_in or found.found_in,
        found_again_in=_join_steps(known, found),
    )


def _join_steps(known: SitedSource, found: SitedSource) -> list[int] | None:
    """The steps beside the first one in which a source was found, as they came, each once."""
    again = dict.fromkeys((*(known.found_again_in or ()), found.found_in))
    first = known.found_in or found.found_in
    return [step for step in again if step and step != first][:MOST_STEPS] or None


def _is_cut_or_longer(known: str, found: str) -> bool:
    """Whether a known title is another one as searches show it: cut, or with the name of a site behind it."""
    if not known or not found:
        return not known
    is_cut = known.endswith(("…", "...")) and len(found) > len(known) - 3 and found.startswith(known.rstrip(".… "))
    return is_cut or (known.startswith(found) and known[len(found) :].startswith(_BEFORE_A_SITE))


def identities(source: SitedSource) -> list[str]:
    """What makes two sources one: the DOI, and the address without what changes nothing."""
    names = [f"doi:{source.doi.lower()}"] if source.doi else []
    return [*names, canonical_url(source.url)]


def read_sources(rows: Iterable[Any], kind: str, step: int = 0) -> list[SitedSource]:
    """The sources in the rows of an answer, whatever tool gave it; rows without an http address have none."""
    return [source for row in rows if isinstance(row, Mapping) and (source := _read_source(row, kind, step))]


def _read_source(row: Mapping[str, Any], kind: str, step: int) -> SitedSource | None:
    doi = find_doi(_first(row, _DOIS))
    url = _first(row, _ADDRESSES) or (f"https://doi.org/{doi}" if doi else "")
    if not url.lower().startswith(("http://", "https://")):
        return None
    doi = doi or (find_doi(url) if "doi.org/" in url.lower() else "")
    if len(url) > LONGEST["url"]:
        return None
    return SitedSource(
        url=url,
        title=" ".join(_find_title(row).split())[: LONGEST["title"]],
        kind=kind or _first(row, ("sourceType",)) or None,
        author=_cut_names(_first(row, _AUTHORS), LONGEST["author"]) or None,
        site=_first(row, _SITES)[: LONGEST["site"]] or None,
        date=_first(row, _DATES)[: LONGEST["date"]] or None,
        doi=doi[: LONGEST["doi"]] or None,
        found_in=step or None,
    )


def _find_title(row: Mapping[str, Any]) -> str:
    """The title; of a filing, which has none, its company, its form and the period that it is about."""
    period = _first(row, ("periodOfReport",))
    parts = (_first(row, ("company",)), _first(row, ("formType",)), period and f"({period})")
    return _first(row, _TITLES) or " ".join(filter(None, parts))


def _first(row: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first of these fields that says something; of a list of people the names, parted by semicolons."""
    for name in names:
        value = row.get(name)
        if isinstance(value, list):
            value = "; ".join(one if isinstance(one, str) else str(one.get("name", "")) for one in value[:20] if one)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def _cut_names(names: str, most: int) -> str:
    """Names within a length, and none of them in part where there are several."""
    return names if len(names) <= most else names[:most].rpartition(";")[0] or names[:most]


# --- how widely a session has looked: facts about sources, never an answer ------------------------------------------

RUN_QUERIES = 3
"""Suggested questions that a thorough step runs."""
RUN_RESULTS = 5
"""Results that each of those asks for."""
THIN = 3
"""Fewer sources than this are called few."""
DOMINANT = 0.6
"""A host with more than this share of several sources dominates them."""


@record
class SourceCoverage:
    """How many sources, hosts and types there are, the host that dominates, and what is thin, in sentences."""

    source_count: int
    unique_domains: int
    domain_spread: float
    dominant_domain: str | None = None
    source_types: Mapping[str, int]
    gaps: Sequence[str]


def describe_coverage(sources: Sequence[SessionSource]) -> SourceCoverage:
    """Counts of sources, hosts and types, the host that dominates, and what is thin, in sentences."""
    hosts = Counter(host for source in sources if (host := to_host(source.url).removeprefix("www.")))
    types = Counter(source.kind for source in sources if source.kind)
    host, count = hosts.most_common(1)[0] if hosts else ("", 0)
    dominant = host if len(sources) > 1 and count / len(sources) > DOMINANT else ""
    gaps = []
    if not sources:
        gaps.append("No sources have been recorded yet.")
    elif len(sources) < THIN:
        gaps.append(f"Only {len(sources)} sources have been recorded." if len(sources) > 1 else "Only one source.")
    if dominant:
        gaps.append(f"{round(100 * count / len(sources))} % of the sources are from {dominant}.")
    if len(types) == 1 and len(sources) > 1:
        gaps.append(f"All sources are of the type {next(iter(types))}.")
    return SourceCoverage(
        source_count=len(sources),
        unique_domains=len(hosts),
        domain_spread=round(len(hosts) / len(sources), 2) if sources else 0.0,
        dominant_domain=dominant or None,
        source_types=dict(sorted(types.items())),
        gaps=sorted(gaps),
    )
