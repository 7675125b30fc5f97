"""How widely a session has looked, and what could be asked next. Facts about sources, never an answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from urllib.parse import urlsplit

from specloom.plugins.records import record

from .session import Gap, SessionSource

MOST_QUERIES = 6
"""Follow-up questions that are suggested."""
RUN_QUERIES = 3
"""Suggested questions that a thorough step runs."""
RUN_RESULTS = 5
"""Results that each of those asks for."""
QUOTED_WORDS = 8
"""Words of a goal that is looked for as it stands; hardly a page has the whole of a longer one."""
_GOAL, _NOVEL = 200, 150
"""Characters of a question that a goal and the words of an open question may take: web searches take 400."""
THIN = 3
"""Fewer sources than this are called few."""
DOMINANT = 0.6
"""A host with more than this share of several sources dominates them."""

_COMPLEMENTS = MappingProxyType({"academic": "news", "paper": "news", "peer_reviewed": "news", "news": "paper"})
"""By the only type of source so far, what to look for beside it; `peer-reviewed` for every other type."""
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_SAY_NOTHING = frozenset(
    re.findall(
        r"\w+",
        """a about after all an and any are as at be been before but by can could did do does find for from had has
        have how if in information into is it its know known lack lacking missing more need needed needs no not of on
        or our out should so still than that the their them there these they this those to unclear unknown was we were
        what when where whether which while who whom whose why will with would yet""",
    )
)


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
    hosts = Counter(host for source in sources if (host := host_of(source.url)))
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


def suggest_queries(goal: str, gaps: Sequence[Gap], coverage: SourceCoverage) -> list[str]:
    """Questions that would go where the session has not been: open questions first, then hosts, then types."""
    goal = _shorten(goal.split(), _GOAL)
    queries = [_ask_for(goal, gap.description) for gap in gaps]
    if goal and coverage.dominant_domain:
        queries.append(f"{goal} -site:{coverage.dominant_domain}")
    types = list(coverage.source_types)
    if goal and len(types) == 1:
        queries.append(f"{goal} {_COMPLEMENTS.get(types[0], 'peer-reviewed')}")
    return [query for query in dict.fromkeys(queries) if query][:MOST_QUERIES]


def _ask_for(goal: str, gap: str) -> str:
    known = {word.casefold() for word in _WORD.findall(goal)}
    words = [word for word in _WORD.findall(gap) if word.casefold() not in _SAY_NOTHING | known]
    novel = _shorten(dict.fromkeys(words), _NOVEL)
    year = _YEAR.search(gap)
    since = f" after:{year[0]}" if year else ""
    if not goal:
        return novel + since if novel else ""
    plain = goal.replace('"', "")
    sought = f'"{plain}"' if len(plain.split()) <= QUOTED_WORDS else plain
    return f"{sought} {novel}{since}" if novel else f"{goal} latest{since}"


def _shorten(words: Iterable[str], characters: int) -> str:
    """As many of these words as fit, and of a first one that is too long its beginning."""
    text = " ".join(words)
    return text if len(text) <= characters else text[: characters + 1].rpartition(" ")[0] or text[:characters]


def host_of(url: str) -> str:
    """The host of an address without `www.`; empty for what has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
