"""What is pointed out of sources that were read, and cards and tables of them: made from figures, by rule."""

from __future__ import annotations

from typing import Any

from specloom.trust.plain import to_plain

LABEL = "mcp-auto-formatted"
MOST = 3
LEAST = 0.6
"""How many sources are recommended, and from which overall score on (the tool contract's figures)."""
SNIPPET = 200
"""Bytes of text on a card (the tool contract's figure)."""
_BEGINNING = 20 * SNIPPET
"""Characters of Markdown in which the text of a card is looked for."""

_REASONS = (
    ("authority", "the authority of its host"),
    ("relevance", "how much of the question it has"),
    ("freshness", "how new it is"),
    ("contentQuality", "how much there is to read"),
)
_COLUMNS = ("source", "overall", "authority", "relevance", "freshness")


def recommend(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Up to three of the sources with text, best first; each says which figure speaks most for it."""
    good = [one for one in sources if one["content"] and one["scores"]["overall"] >= LEAST]
    good.sort(key=lambda one: -one["scores"]["overall"])
    return [_recommendation(one) for one in good[:MOST]]


def _recommendation(source: dict[str, Any]) -> dict[str, Any]:
    scores = source["scores"]
    # Of equal figures the first one speaks.
    name, words = max(_REASONS, key=lambda reason: scores[reason[0]])
    reason = f"Advisory: it stands out by {words} ({scores[name]:.2f}); the order of the sources is not changed."
    said = {"url": source["url"], "title": source.get("title"), "score": scores["overall"], "reason": reason}
    return {key: value for key, value in said.items() if value is not None}


def make_components(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A card for each source with text, and for two sources or more a table that compares them."""
    with_text = [one for one in sources if one["content"]]
    made = [_card(one) for one in with_text]
    if len(with_text) > 1:
        rows = [
            [one.get("title") or one["url"], *(f"{one['scores'][column]:.2f}" for column in _COLUMNS[1:])]
            for one in with_text
        ]
        table = {"columns": list(_COLUMNS), "rows": rows}
        made.append(_component("table", "Quality of the sources compared", [one["url"] for one in with_text], table))
    return made


def _card(source: dict[str, Any]) -> dict[str, Any]:
    content = source["content"]
    text = " ".join(to_plain(content[:_BEGINNING]).split())
    snippet = text.encode()[:SNIPPET].decode("utf-8", "ignore")
    card = {
        "url": source["url"],
        "title": source.get("title") or source["url"],
        "score": source["scores"]["overall"],
        "snippet": snippet if snippet == text and len(content) <= _BEGINNING else snippet + "…",
    }
    return _component("card", card["title"], [source["url"]], card)


def _component(kind: str, title: str, refs: list[str], body: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "autoFormatted": True, "label": LABEL, "title": title, "sourceRefs": refs, kind: body}
