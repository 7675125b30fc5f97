"""The procedure of this package as specs name it: what it takes and gives. The work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import procedure

if TYPE_CHECKING:
    from specloom.desk import Desk

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_TEXTS = {"type": "array", "items": _TEXT}


def _texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _TEXT)


def _closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


_GRADE = {"type": "string", "enum": ["full", "partial", "none"]}
_IMAGE = _closed({**_texts("url", "format"), "width": _WHOLE, "height": _WHOLE}, "url")
_FONT = _closed({**_texts("family", "origin", "origin_id"), "weights": {"type": "array"}}, "family")
_SLOTS = _texts("primary", "secondary", "accent", "background", "text", "surface", "text_secondary")
_TIER = {"type": "string", "enum": ["homepage_meta", "brandfetch_api", "brand_page", "web_search"]}

BRAND = {
    "type": "object",
    "properties": {
        "identity": _closed(
            {
                **_texts("name", "domain", "tagline", "description", "industry"),
                "founded": _WHOLE,
                "location": _closed(_texts("city", "country_code")),
            }
        ),
        "colors": _closed(
            {
                **_SLOTS,
                "palette": _list(_closed({**_texts("hex", "name", "role"), "brightness": _WHOLE}, "hex", "brightness")),
            }
        ),
        "logos": _closed({**dict.fromkeys(("primary", "dark", "icon"), _IMAGE), **_texts("favicon", "og_image")}),
        "typography": _closed(
            {
                **dict.fromkeys(("heading", "body", "mono"), _FONT),
                "google_fonts_url": _TEXT,
                "scale": {"type": "object"},
            }
        ),
        "tone_of_voice": _closed(
            {"summary": _TEXT, "attributes": _TEXTS, "dos_and_donts": _closed({"dos": _TEXTS, "donts": _TEXTS})}
        ),
        "social": _closed(_texts("twitter", "linkedin", "github", "youtube", "facebook", "instagram")),
        "sources": _list(
            _closed(
                {
                    "name": _TIER,
                    "url": _TEXT,
                    "fields": _TEXTS,
                    "scrapeQuality": {"type": "string", "enum": ["thin"]},
                },
                "name",
                "url",
                "fields",
            )
        ),
        **_texts("guidelines_url", "brand_portal_resource", "suggestion"),
        "design_tokens": {"type": "object"},
        "coverage": _closed(
            {
                **dict.fromkeys(("colors", "logos", "typography"), _GRADE),
                "tone_of_voice": {"type": "string", "enum": ["found", "none"]},
                "extraction_blocked": {"type": "boolean"},
            },
            "colors",
            "logos",
            "typography",
            "tone_of_voice",
        ),
        "tier_errors": _list(_closed({"tier": _TIER, "error": _TEXT}, "tier", "error")),
        "cache_age": _WHOLE,
    },
    "required": [
        "identity", "colors", "logos", "typography", "tone_of_voice", "social", "sources", "coverage", "cache_age",
    ],
}  # fmt: skip
"""What is told of a brand; what was not found is left out."""


@procedure(
    "research_brand",
    parameters={"url": _TEXT, "company_name": _TEXT, "depth": _TEXT, "include_design_tokens": {"type": "boolean"}},
    gives=BRAND,
    asks=("brand", "brand_domains", "web"),
    runs=("read_page",),
)
async def research_brand(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Researches a brand: what its homepage declares, what its portal says, and at depth `full` what searches find.

    Only what is stated is told; what a surer place says is never overwritten. `depth` is quick, standard or full.
    """
    from .research import research

    return await research(
        desk,
        str(given.get("url") or "").strip(),
        str(given.get("company_name") or "").strip(),
        str(given.get("depth") or "standard"),
        tokens=bool(given.get("include_design_tokens")),
    )
