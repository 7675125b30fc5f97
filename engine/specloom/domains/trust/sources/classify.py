"""What kind of source an address is, what it is about and how much it is relied on: hints, each from a named signal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from specloom.core import dataclass, load_table
from specloom.domains.text import (
    Reputation,
    find_doi,
    find_reputation,
    invert,
    is_address,
    to_alternatives,
    to_domains,
    to_host,
    to_plain,
    to_registrable,
    to_suffix,
)
from specloom.plugins import HOOKS, Row

from ..records import SelfPromotion

SOURCE_TYPES = (
    "peer_reviewed", "official_docs", "government", "news_publication", "blog", "forum", "wiki", "social_media",
    "unknown",
)  # fmt: skip
AUTHORITY_TIERS = ("high", "medium", "low")
DOMAIN_CATEGORIES = ("academic", "legal", "medical", "financial", "technical", "general")

_AUTHORITY_BY_TIER: Mapping[str, float] = {"high": 0.9, "mixed": 0.7, "low": 0.3}
_GRANTED_AUTHORITY = 0.9
_UNKNOWN_AUTHORITY = 0.5
# The bands of the documented tiers: from 0.8 high, from 0.5 medium.
_HIGH, _MEDIUM = 0.8, 0.5


@dataclass(frozen=True, slots=True)
class Classification:
    """The labels of one address.

    `source_type` is one of SOURCE_TYPES, `authority` a number from 0 to 1, `authority_tier` its band (AUTHORITY_TIERS),
    `domain_category` one of DOMAIN_CATEGORIES, and `reputation` what is documented about the host, None when nothing
    is. `signal` says what decided the source type: citation_meta, json_ld, host, reputation, suffix, label or none.
    """

    source_type: str
    authority: float
    authority_tier: str
    domain_category: str
    reputation: Reputation | None
    signal: str


@dataclass(frozen=True, slots=True)
class _Sources:
    """The data file, turned round: by host, and by whatever else decides."""

    types: Mapping[str, str]
    kinds: Mapping[str, str]
    categories: Mapping[str, str]
    authority: Mapping[str, float]
    lenses: Mapping[str, str]
    bases: Mapping[str, Mapping[str, str]]
    suffixes: Mapping[str, tuple[frozenset[str], frozenset[str]]]


def classify(url: str, *, citation: bool = False, types: Sequence[str] = (), lens: str = "") -> Classification:
    """The labels of an address from what its page declares and from its host, the first decisive signal deciding.

    `citation` says whether the page carries Highwire `citation_*` metadata, `types` are the `@type` values of its
    JSON-LD (plain or as addresses of schema.org), and `lens` is the field that a search was restricted to. An
    address that is none still has labels: unknown, medium and general.
    """
    host = to_host(url)
    reputation = find_reputation(url)
    source_type, signal = _find_kind(host, reputation, citation=citation, types=types)
    number = authority(url)
    return Classification(
        source_type=source_type,
        authority=number,
        authority_tier=to_tier(number),
        domain_category=_find_category(host, reputation, source_type, lens),
        reputation=reputation,
        signal=signal,
    )


def is_scholarly(url: str) -> bool:
    """Whether the host of an address publishes, keeps or lists scholarly works, and is not one to write about them."""
    labels = classify(url)
    is_academic = labels.domain_category == "academic" and labels.source_type not in _WRITING
    return labels.source_type == "peer_reviewed" or is_academic


_WRITING = frozenset(("blog", "forum", "news_publication", "social_media", "wiki"))
_RESOLVERS = frozenset(("doi.org", "dx.doi.org", "www.doi.org"))
_NAMING = frozenset(("doi", "id"))
"""Parameters of addresses by which publishers name the work of a page."""


def find_own_doi(url: str) -> str:
    """The DOI of the work to which an address leads: one of doi.org, or in the path of a scholarly host.

    "" for other addresses: a page with a DOI in its address may be a comment, a post or a search for it.
    """
    if to_host(url) in _RESOLVERS:
        return find_doi(url)
    if not is_scholarly(url):
        return ""
    address, _, query = url.partition("#")[0].partition("?")
    named = (f"{address}/{value}" for name, value in parse_qsl(query) if name.lower() in _NAMING)
    return find_doi(address) or next(filter(None, map(find_doi, named)), "")


def authority(url: str) -> float:
    """How much the host of an address is relied on, from 0 to 1; 0.5 when nothing is known about it.

    Only whole labels of the host count: a path, a query, user information or a look-alike name changes nothing.
    """
    host = to_host(url)
    authorities = load_sources().authority
    if (listed := _nearest(authorities, host)) is not None:
        return authorities[listed]
    if (reputation := find_reputation(url)) is not None:
        return _AUTHORITY_BY_TIER[reputation.tier]
    return _GRANTED_AUTHORITY if _find_group(host) else _UNKNOWN_AUTHORITY


def to_tier(number: float) -> str:
    """The band of an authority: high, medium or low."""
    return "high" if number >= _HIGH else "medium" if number >= _MEDIUM else "low"


def _find_kind(host: str, reputation: Reputation | None, *, citation: bool, types: Sequence[str]) -> tuple[str, str]:
    """The source type and the signal that decided it."""
    if citation:
        return "peer_reviewed", "citation_meta"
    # `http://schema.org/NewsArticle`, `schema:NewsArticle` and `NewsArticle` are one type.
    declared = {re.split("[/#:]", name.strip().rstrip("/"))[-1] for name in types}
    sources = load_sources()
    for name, kind in sources.types.items():
        if name in declared:
            return kind, "json_ld"
    if (listed := _nearest(sources.kinds, host)) is not None:
        return sources.kinds[listed], "host"
    # A suffix kept for governments says more than what a data set says about one of their sites.
    group = _find_group(host)
    if group == "government":
        return "government", "suffix"
    if reputation is not None and (implied := sources.bases.get(reputation.basis, {}).get("kind")):
        return implied, "reputation"
    # A university's suffix says who publishes and not how: its courses and homepages are not reviewed literature.
    first, _, rest = host.partition(".")
    if group is None and "." in rest and first in ("docs", "blog"):
        return {"docs": "official_docs", "blog": "blog"}[first], "label"
    return "unknown", "none"


def _find_category(host: str, reputation: Reputation | None, source_type: str, lens: str) -> str:
    sources = load_sources()
    if lens in sources.lenses:
        return sources.lenses[lens]
    if (listed := _nearest(sources.categories, host)) is not None:
        return sources.categories[listed]
    if reputation is not None and (category := sources.bases.get(reputation.basis, {}).get("category")):
        return category
    if _find_group(host) == "academic" or source_type == "peer_reviewed":
        return "academic"
    return "technical" if source_type == "official_docs" else "general"


def _nearest(domains: Mapping[str, object], host: str) -> str | None:
    return next((domain for domain in to_domains(host) if domain in domains), None)


def _find_group(host: str) -> Literal["government", "academic"] | None:
    """The group that the registry keeps the suffix of a host for."""
    if not host:
        return None
    suffix = to_suffix(host)
    first = suffix.partition(".")[0]
    suffixes = load_sources().suffixes
    for group in ("government", "academic"):
        labels, names = suffixes[group]
        # "ac" alone is the domain of an island; "gov" and "mil" alone are what they are under a country.
        single = "." not in suffix and group == "academic"
        if (first in labels and not single) or any(domain in names for domain in to_domains(host)):
            return "government" if group == "government" else "academic"
    return None


@cache
def load_sources() -> _Sources:
    """The bundled data set of hosts, by host."""
    data = load_table(__file__, "sources.yaml")
    return _Sources(
        types=invert(data["types"]),
        kinds=_invert(data["kinds"]),
        categories=_invert(data["categories"]),
        authority=data["authority"],
        lenses=data["lenses"],
        bases=data["bases"],
        suffixes={
            group: (frozenset(parts["labels"]), frozenset(parts["names"])) for group, parts in data["suffixes"].items()
        },
    )


def _invert(groups: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
    return {host: label for label, hosts in groups.items() for host in hosts}


_POSTED = frozenset({"social_media", "forum"})
"""Source types whose pages are posts of users."""


@HOOKS.register(
    "source_kind",
    parameters={},
    adds={
        "source_type": {"type": "string", "enum": [kind for kind in SOURCE_TYPES if kind != "unknown"]},
        "is_social_media": {"type": "boolean"},
    },
    reads=("url",),
)
def source_kind(rows: list[Row], _arguments: Mapping[str, Any]) -> list[Row]:
    """Give each row what its host alone says of the kind of its source; what is not known is absent.

    `is_social_media` says whether users post there, on networks or in forums.
    """
    return [{**row, **_say_kind(row.get("url"))} for row in rows]


def _say_kind(url: Any) -> Row:
    kind = classify(url).source_type if isinstance(url, str) else "unknown"
    return {} if kind == "unknown" else {"source_type": kind, "is_social_media": kind in _POSTED}


# --- Whether a page ranks the brand of its own host first: a sign to read it with care, found word by word ------------


_SHORTEST_TOKEN = 3
_LONGEST_BRAND = 4
_WORDS = load_table(__file__, "sources.yaml")["ranking"]
_PLACE = rf"(?:(?:\#|\b(?:{to_alternatives(_WORDS['places'])}))[ \t]*)?"
# An item of a list at the start of a line: heading, list, table and emphasis marks, then its number.
_ITEM = re.compile(
    rf"""^[ \t>|]*(?:\#{{1,6}}[ \t]+)?(?:[-*+•][ \t]+)?[*_]{{0,3}}{_PLACE}([0-9]{{1,2}})
    \\?[.):]?[*_]{{0,3}}[ \t.):|–—-]+(?=\S)(.*)$""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_IN_ADDRESS = re.compile(rf"\b(?:{to_alternatives(_WORDS['addresses'])})\b", re.IGNORECASE)
_RANKING = re.compile(
    rf"\b(?:{to_alternatives(_WORDS['words'])})\b|{to_alternatives(_WORDS['unspaced'])}", re.IGNORECASE
)
_LABELLED = re.compile(r"^[^:–—]{1,80}(?::|[ \t][–—-])[ \t*_]++(.+)$")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?(?:\.[^\W_]+)*")
_LOOK_BACK = 3000


def find_self_promotion(url: str, text: str) -> SelfPromotion | None:
    """The first item of a ranking that is the brand of the host it stands on, or None.

    The brand is the label that was registered (`acme` of `blog.acme.co.uk`), in three letters or more, and the item has
    to begin with it as a word, behind a label such as "Best overall:" or not. A list counts as a ranking when a second
    item follows that is another name and when the title or the item says so. What a firm owns under other names is not
    known here.
    """
    domain, token = to_brand(url)
    if not token:
        return None
    items = list(_ITEM.finditer(text))
    for first, second in pairwise(items):
        if (first[1].lstrip("0"), second[1].lstrip("0")) != ("1", "2"):
            continue
        before = text[max(0, first.start() - _LOOK_BACK) : first.end()]
        wins = _names(first[2], token, domain) and not _names(second[2], token, domain)
        if wins and _RANKING.search(to_plain(before)):
            item = " ".join(first[0].split())[:200]
            return SelfPromotion(
                detected=True, brand_domain=domain, brand_token=token, rank_position=1, confidence="high", item=item
            )
    return None


def find_self_ranking(title: str, url: str, others: Sequence[tuple[str, str]]) -> SelfPromotion | None:
    """A recommendation whose title gives the first place to the brand of the site that it links to, or None.

    `others` are titles and addresses that stand in the same list. A link to what is recommended is no ranking, so the
    address has to be one of a ranking, or that of another item, which has a later place and names another brand.
    """
    domain, token = to_brand(url)
    first = _ITEM.match(title)
    if not token or first is None or first[1].lstrip("0") != "1" or not _names(first[2], token, domain):
        return None
    path = re.sub(r"[^\w]|_", " ", unquote(urlsplit(url).path))
    later = ((_ITEM.match(other), to_brand(address)[0]) for other, address in others)
    if not _IN_ADDRESS.search(path) and not any(
        place and place[1].lstrip("0") != "1" and site == domain and not _names(place[2], token, domain)
        for place, site in later
    ):
        return None
    return SelfPromotion(
        detected=True, brand_domain=domain, brand_token=token, rank_position=1, confidence="medium", item=title[:200]
    )


def to_brand(url: str) -> tuple[str, str]:
    """The domain of an address and the label of it that may be a brand; two empty texts where it has none."""
    host = to_host(url)
    domain = to_registrable(host)
    # Below a top-level domain that the Public Suffix List does not have, names are registered right below it.
    if not domain and "." in host and not to_suffix(host) and not is_address(host):
        domain = ".".join(host.split(".")[-2:])
    token = domain.partition(".")[0].removeprefix("xn--")
    # best.example does not praise itself wherever a list has a best of something.
    return (domain, token) if len(token) >= _SHORTEST_TOKEN and not _RANKING.fullmatch(token) else ("", "")


def _names(item: str, token: str, domain: str) -> bool:
    """Whether an item begins with the brand, as one word or several ("Mail Works" for mailworks)."""
    labelled = _LABELLED.match(item)
    for text in (item, labelled[1] if labelled else ""):
        words = [_plain(re.sub(r"['’]s$", "", word)) for word in _WORD.findall(text[:200])[:_LONGEST_BRAND]]
        if not {_plain(token), _plain(domain)}.isdisjoint(accumulate(words)):
            return True
    return False


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
