"""Audits a list of recommendations: who stands behind each, whether its link answers, and who else says so."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from specloom.core import KINDS, Fault, dataclass, load_table
from specloom.domains.text import terms, to_host, to_registrable, to_word_set
from specloom.domains.text.tokens import tokens
from specloom.plugins import Context, from_json

from ..claims.coverage import assess
from ..records import (
    Affiliation,
    Corroboration,
    Ownership,
    Recommendation,
    RecommendationFlag,
    Recommendations,
    SelfPromotion,
)
from .classify import classify, find_self_ranking
from .commissions import find_commission
from .conflicts import find_conflict, find_entities
from .links import NO_LINK, LinkCheck, check_links

AT_ONCE = 8
"""Recommendations that are looked into side by side."""
SEARCHES_AT_ONCE = 4
LINKS_FOR = 3600.0
"""Seconds for which it is remembered what a link answered (the tool contract's figure)."""
PATIENCE = 60.0
"""Seconds after which no further page is read and nobody else is asked; what is left is told without that."""
AGREES = 0.6
"""The share of the claim's terms from which a result counts as speaking for it (the tool contract's figure)."""
_LONGEST_QUERY = 300
_TOP = 3
_PAGE_BYTES = 50_000
STANCES = ("agree", "disagree", "silent")
"""What a result may say about a recommendation."""
RECORDS_LENS = "investigative_records"
"""The field of public records, which is only searched for claims that such records could bear out."""
_RECORDS = to_word_set(load_table(__file__, "sources.yaml")["records"])


@dataclass(slots=True)
class _Item:
    """One recommendation on its way through the audit, and the author's biography."""

    record: Recommendation
    biography: str = ""
    link: LinkCheck = NO_LINK
    is_answered: bool = False

    @property
    def url(self) -> str:
        return self.record.url or ""

    def tell(self, **fields: Any) -> None:
        """Take over what is known of some fields of the record."""
        self.record = replace(self.record, **fields)

    def flag(self, name: RecommendationFlag, reason: str) -> None:
        self.tell(flags=(*self.record.flags, name))
        self.note(reason)

    def note(self, reason: str) -> None:
        self.tell(reasons=(*self.record.reasons, reason))


async def audit_recommendations(
    context: Context,
    recommendations: Sequence[Mapping[str, str]],
    *,
    claim: str,
    lenses: Sequence[Mapping[str, Any]],
    most: int,
) -> Recommendations:
    """The record of a list of recommendations, of `title`, `url`, `author` and `authorBio`.

    `lenses` are the fields in which others are looked for: `name` and `domains`. Without a claim nobody is asked.
    """
    items = [_to_item(one) for one in recommendations]
    began = context.now()
    linked = [item for item in items if item.url]
    links = await check_links(context, [item.url for item in linked], keep_for=LINKS_FOR)
    for item, link in zip(linked, links, strict=True):
        item.link = link
    turns, searches = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(SEARCHES_AT_ONCE)
    done = 0

    async def look(item: _Item) -> None:
        nonlocal done
        async with turns:
            late = context.now() - began > PATIENCE
            _look_at_author(item)
            _look_at_host(item)
            _look_at_place(item, [(other.record.title, other.url) for other in items if other is not item])
            if not late:
                await _look_at_page(context, item)
            is_sought = bool(claim.strip() and item.record.title)
            late = late or (is_sought and context.now() - began > PATIENCE)
            if is_sought and not late:
                await _look_elsewhere(context, item, claim.strip(), lenses, most, searches)
            if late:
                item.note("the call had no time left to look into it further")
        done += 1
        context.tell(done, len(items), f"looked into {done} of {len(items)} recommendations")

    await asyncio.gather(*[look(item) for item in items])
    agreed = sum(one.agree_count or 0 for item in items for one in item.record.corroboration_searches or ())
    # That nobody agrees can only be said where somebody was asked and answered.
    is_alone = any(item.is_answered for item in items) and not agreed
    return Recommendations(
        item_count=len(items),
        recommendations=[item.record for item in items],
        aggregate_flags=(("no_independent_corroboration",) if is_alone else ()) if claim.strip() else None,
    )


def _to_item(fields: Mapping[str, str]) -> _Item:
    title, url, author, biography = (
        str(fields.get(name) or "").strip() for name in ("title", "url", "author", "authorBio")
    )
    return _Item(Recommendation(title=title, url=url or None, author=author or None, flags=(), reasons=()), biography)


# --- one recommendation ---


def _look_at_author(item: _Item) -> None:
    conflict = find_conflict(item.biography, item.record.title)
    if conflict is not None:
        item.tell(conflict_of_interest=conflict)
        reason = f"{conflict.cited_entity_name}: {conflict.author_affiliation}"
        item.flag("conflict_of_interest", f"the author's biography names {reason}")


def _look_at_host(item: _Item) -> None:
    if not item.url:
        return
    labels, link = classify(item.url), item.link
    if labels.reputation is not None:
        item.tell(domain_reputation=labels.reputation)
        if labels.reputation.tier == "low":
            item.flag("low_reputation", f"{to_host(item.url)} is rated low ({labels.reputation.basis})")
    elif labels.source_type == "unknown" and to_host(item.url):
        item.flag("unknown_reputation", f"nothing is documented about {to_host(item.url)}, which is no sign against it")
    item.tell(
        link_live=link.live,
        http_status=link.status if link.live is not None else None,
        archived_url=link.archived or None,
    )
    if link.live is False:
        item.flag("dead_link", f"the link is dead: {link.reason or f'status {link.status}'}")
    elif link.live is None:
        item.note(f"the link was not checked: {link.reason}")


def _look_at_place(item: _Item, others: Sequence[tuple[str, str]]) -> None:
    """Note a title that puts the brand of its own link first; what the page itself says is told in place of that."""
    promotion = find_self_ranking(item.record.title, item.url, others)
    if promotion is not None:
        item.tell(self_promotion_signal=promotion)
        item.flag(
            "self_promotion", f"{promotion.item!r} gives the first place to the brand of {promotion.brand_domain}"
        )


async def _look_at_page(context: Context, item: _Item) -> None:
    if not item.link.live:
        return
    try:
        page = await context.run("read_page", {"url": item.url, "mode": "full", "max_length": _PAGE_BYTES})
    except Fault as fault:
        page = {}
        unsought = "so commissions and self-promotion were not looked for"
        item.note(f"its page could not be read ({KINDS[fault.kind].wire}), {unsought}")
    if sentence := find_commission(str(page.get("content") or "")):
        item.tell(affiliate_signal=Affiliation(detected=True, evidence=sentence))
        item.flag("affiliate_commission", f"its page says that it is paid for sales: {sentence!r}")
    if signal := page.get("selfPromotionSignal"):
        promotion = from_json(SelfPromotion, signal)
        reason = f"{promotion.brand_domain} ranks its own brand first: {promotion.item!r}"
        if item.record.self_promotion_signal is None:
            item.flag("self_promotion", reason)
        else:
            item.note(reason)
        item.tell(self_promotion_signal=promotion)
    elif owner := await _find_owner(context, item.url):
        item.tell(corporate_ownership_signal=owner)
        reason = f"{owner.brand_domain} is the site of {owner.entity_label}, which belongs to {owner.owner_label}"
        item.flag("corporate_ownership", reason)


async def _find_owner(context: Context, url: str) -> Ownership | None:
    """The parent organisation of the brand whose site an address is on; only where the site is the entity's own."""
    domain = to_registrable(to_host(url))
    token = domain.partition(".")[0]
    if len(token) < 3:
        return None
    try:
        answer = await context.ask("ownership", {"company": token})
    except Fault as fault:
        context.lack("ownership", fault)
        return None
    # The best-known thing of a name is often another one: only its official website makes it this brand.
    row = next((row for row in answer.rows if to_registrable(to_host(str(row.get("website") or ""))) == domain), None)
    if row is None:
        return None
    return Ownership(
        detected=True,
        brand_domain=domain,
        brand_token=token,
        entity_label=str(row.get("entity") or token),
        entity_qid=row["entity_id"],
        owner_label=row["owner"],
        owner_qid=row["owner_id"],
        confidence="medium",
    )


# --- what others say ---


async def _look_elsewhere(
    context: Context,
    item: _Item,
    claim: str,
    lenses: Sequence[Mapping[str, Any]],
    most: int,
    searches: asyncio.Semaphore,
) -> None:
    words = set(tokens(f"{item.record.title} {claim}"))
    searched = [lens for lens in lenses if lens["name"] != RECORDS_LENS or not _RECORDS.isdisjoint(words)]

    async def search(lens: Mapping[str, Any]) -> Corroboration | Fault | None:
        async with searches:
            return await _search(context, item, claim, lens, most)

    answers = await asyncio.gather(*[search(lens) for lens in searched])
    item.is_answered = any(not isinstance(one, Fault) for one in answers)
    item.tell(corroboration_searches=[one for one in answers if isinstance(one, Corroboration)] or None)
    failed = [(lens["name"], one.kind) for lens, one in zip(searched, answers, strict=True) if isinstance(one, Fault)]
    if failed:
        fields, kinds = (" and ".join(dict.fromkeys(words)) for words in zip(*failed, strict=True))
        item.note(f"nobody could be asked in the fields {fields} ({kinds})")


async def _search(
    context: Context, item: _Item, claim: str, lens: Mapping[str, Any], most: int
) -> Corroboration | Fault | None:
    """What one field has about a recommendation; None where nothing was found, the fault where nobody answered."""
    query, domains = f"{item.record.title} {claim}"[:_LONGEST_QUERY], list(lens["domains"])
    try:
        answer = await context.ask("web", {"query": query, "num_results": most, "sites": domains})
    except Fault as fault:
        return fault
    inside = [row for row in answer.rows if _is_within(str(row.get("url") or ""), domains)]
    own = to_registrable(to_host(item.url))
    # What a brand says about itself corroborates nothing.
    independent = [row for row in inside if not own or to_registrable(to_host(str(row["url"]))) != own]
    judged = [_judge(row, item.record.title, claim) for row in independent[:most]]
    is_partial = len(inside) < len(answer.rows)
    if not judged and not is_partial:
        return None
    agree, disagree, silent = (sum(one["stance"] == stance for one in judged) for stance in STANCES)
    return Corroboration(
        query=query,
        lens=str(lens["name"]),
        result_count=len(judged),
        agree_count=agree,
        disagree_count=disagree,
        silent_count=silent,
        top_results=judged[:_TOP],
        flags=("lens_restriction_unreliable",) if is_partial else (),
    )


def _judge(row: Mapping[str, Any], title: str, claim: str) -> dict[str, Any]:
    text = f"{row.get('title') or ''}. {row.get('snippet') or ''}"
    coverage = assess(f"{title} {claim}", text)
    # A result that does not name what is recommended says nothing about it.
    named = _names(title, text)
    stance = "silent"
    if named and coverage.contrast:
        stance = "disagree"
    elif named and coverage.coverage >= AGREES:
        stance = "agree"
    result = {
        "title": row.get("title"),
        "url": row.get("url"),
        "snippet": str(row.get("snippet") or "")[:500],
        "claimSignal": coverage.signal,
        "coverage": coverage.coverage,
        "stance": stance,
    }
    return {name: value for name, value in result.items() if value not in (None, "")}


def _names(title: str, text: str) -> bool:
    """Whether a text names what a recommendation is of: a name in its title, else most of the title's own words."""
    stated = set(tokens(text))
    names = [set(tokens(name)) for name in find_entities(title)]
    words = set(terms(title))
    return any(name and name <= stated for name in names) or (not names and len(words & stated) * 2 > len(words))


def _is_within(url: str, domains: Sequence[str]) -> bool:
    """Whether an address is on one of some hosts or below it, and below the path where one is given."""
    host, path = to_host(url), urlsplit(url).path
    for domain in domains:
        site, _, prefix = domain.partition("/")
        if (host == site or host.endswith(f".{site}")) and (
            not prefix or re.match(rf"/{re.escape(prefix.rstrip('/'))}(?:/|$)", path)
        ):
            return True
    return False
