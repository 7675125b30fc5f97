"""What an index of brands knows, for what a company does not say itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specloom.trust.brand.findings import Findings
from specloom.trust.brand.homepage import to_image
from specloom.trust.brand.social import choose_accounts
from specloom.trust.brand.swatches import Swatch, find_hex, to_saturation, to_slots

if TYPE_CHECKING:
    from specloom.desk import Desk

SOURCE = "brandfetch_api"
"""What the tool contract calls this source."""
PAGE = "https://brandfetch.com"
_IDENTITY = ("name", "tagline", "description", "industry", "founded")


async def ask_index(desk: Desk, domain: str, *, voice: bool) -> Findings | None:
    """What the index of brands has about a domain, None where it has nothing; raises the fault of asking."""
    answer = await desk.ask("brand", {"domain": domain, "voice": voice})
    return to_findings(answer.rows[0]) if answer.rows else None


def to_findings(row: dict[str, Any]) -> Findings:
    """A row of the capability `brand` under the names of the tool contract."""
    found = Findings()
    found.identity = {name: row[name] for name in _IDENTITY if row.get(name)}
    place = {name: row[name] for name in ("city", "country_code") if row.get(name)}
    if place:
        found.identity["location"] = place
    for logo in row.get("logos") or []:
        if logo.get("url"):
            image = to_image(str(logo["url"]), logo.get("width"), logo.get("height"))
            found.logos.setdefault(str(logo.get("role") or "primary"), image)
    for color in row.get("colors") or []:
        code = find_hex(str(color.get("hex") or ""))
        if code:
            found.palette.append(Swatch(code, role=str(color.get("role") or "")))
    found.colors = to_slots(found.palette)
    if found.palette and "primary" not in found.colors:
        strongest = max(found.palette, key=lambda swatch: to_saturation(swatch.hex)).hex
        found.colors["primary"] = found.colors.get("accent", strongest)
    for font in row.get("fonts") or []:
        if font.get("family"):
            known = {name: value for name, value in font.items() if name != "role" and value not in (None, "", [])}
            found.typography.setdefault(str(font.get("role") or "heading"), known)
    found.social = choose_accounts([str(link) for link in row.get("links") or []], [], "")
    voice = {"summary": row.get("voice"), "attributes": row.get("voice_attributes")}
    found.tone_of_voice = {name: value for name, value in voice.items() if value}
    return found
