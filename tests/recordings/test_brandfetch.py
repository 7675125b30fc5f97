"""Brandfetch as its documentation shows a brand, with the roles that the index gives its colours and fonts."""

from __future__ import annotations

from tests.support.recordings import recorded, replay


def test_the_documented_brand_has_logos_colours_and_fonts_with_their_roles() -> None:
    rows, _ = replay("brandfetch", "brand", {"domain": "brandfetch.com"}, recorded("brandfetch/doc-example-brand.json"))

    assert len(rows) == 1
    brand = rows[0]
    assert (brand["name"], brand["description"]) == ("Brandfetch", "All brands. In one place")
    assert [logo["role"] for logo in brand["logos"]] == ["primary", "dark", "icon", "icon", "icon"]
    assert brand["logos"][1]["url"].endswith(".svg"), "a drawing goes before a picture"
    assert [color["role"] for color in brand["colors"]] == ["accent", *["primary"] * 5, "text", "background"]
    assert [(font["role"], font["family"]) for font in brand["fonts"]] == [("heading", "Poppins"), ("body", "Inter")]
    assert brand["links"] == ["https://twitter.com/brandfetch", "https://linkedin.com/company/brandfetch"]
