"""What pages say of a brand: colours, fonts, voice, accounts and logos, and which pages are about a brand at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.domains.text.visible_text import parse, to_text
from specloom.domains.trust.brand.findings import MOST_SWATCHES, Findings, Swatch, find_hex, to_tokens
from specloom.domains.trust.brand.guidelines import find_logos, read_guidelines
from specloom.domains.trust.brand.homepage import choose_accounts, find_account, parse_manifest, read_homepage
from specloom.domains.trust.brand.portal import PATHS, SUBDOMAINS, is_brand_text, to_candidates, to_domain

HOME = "https://www.otterware.com/"


def _colors(text: str) -> list[tuple[str, str, str]]:
    return [(one.hex, one.name, one.role) for one in read_guidelines(text).palette]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Primary colours\n\n- River Blue #0A6CFF", [("#0a6cff", "River Blue", "primary")]),
        ("River Blue\nHEX #0A6CFF\nRGB 10, 108, 255\nCMYK 96 58 0 0", [("#0a6cff", "River Blue", "")]),
        ("Reed\nRGB: 31 / 138 / 76", [("#1f8a4c", "Reed", "")]),
        ("Clay\nR 196 G 106", []),
        ("| Clay | HEX C46A3D |", [("#c46a3d", "Clay", "")]),
        ("`--color-accent: #f80;`", [("#ff8800", "", "accent")]),
        ("Text secondary: #666666", [("#666666", "", "text_secondary")]),
        ("Neutrals: #111111 #222222 #333333 #444444", [(f"#{digit * 6}", "", "neutral") for digit in "1234"]),
        ("See issue #123 and #456789a, [here](#decade) or https://a.example/#facade", []),
        ("Section #1234", []),
        ("rgb(300, 0, 0)", []),
    ],
)  # fmt: skip
def test_colours_have_the_name_and_role_that_stand_with_them(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert _colors(text) == expected


def test_a_palette_ends_at_twenty_colours() -> None:
    text = "\n".join(f"#{at:02x}55aa" for at in range(MOST_SWATCHES + 5))

    assert len(_colors(text)) == MOST_SWATCHES


@pytest.mark.parametrize(
    ("code", "brightness", "neutral"),
    [
        ("#ffffff", 100, True),
        ("#000000", 0, True),
        ("#0a6cff", 37, False),
        ("#808080", 50, True),
        ("#e6c84b", 76, False),
    ],
)
def test_brightness_is_perceived_and_greys_are_neutral(code: str, brightness: int, neutral: bool) -> None:
    swatch = Swatch(code)

    assert (swatch.brightness, swatch.is_neutral) == (brightness, neutral)


@pytest.mark.parametrize(
    ("text", "role", "expected"),
    [
        ("## Typography\nHeadings: Poppins Bold", "heading", {"family": "Poppins", "weights": [700]}),
        ("## Typography\nBody text is set in Source Sans 3.", "body", {"family": "Source Sans 3"}),
        (
            "## Fonts\nInter is used for body copy, from Google Fonts.",
            "body",
            {"family": "Inter", "origin": "google", "origin_id": "Inter"},
        ),
        ("## Fonts\nCode: JetBrains Mono, 400", "mono", {"family": "JetBrains Mono", "weights": [400]}),
        ("Our typeface is Otter Grotesk.", "heading", {"family": "Otter Grotesk"}),
    ],
)  # fmt: skip
def test_fonts_have_the_use_that_is_stated(text: str, role: str, expected: dict[str, object]) -> None:
    assert read_guidelines(text).typography == {role: expected}


@pytest.mark.parametrize(
    "text", ["Headings: Rafts and Rivers", "## Typography\nOur typeface is the best.", "Body: Otter"]
)
def test_words_that_are_about_no_font_are_none(text: str) -> None:
    assert read_guidelines(text).typography == {}


def test_the_voice_is_what_stands_under_its_heading() -> None:
    found = read_guidelines(
        "# Brand\nWe are loud, brash and rude.\n"
        "## Tone of voice\nWe talk as one who knows the river and has time for all.\n"
        "- Calm: no exclamation marks\n- Don't shout\n- Do: say what is meant\n"
        "## Logo\nOur voice is big, red and round."
    ).tone_of_voice

    assert found == {
        "summary": "We talk as one who knows the river and has time for all.",
        "attributes": ["Calm"],
        "dos_and_donts": {"dos": ["say what is meant"], "donts": ["shout"]},
    }


def test_without_a_heading_about_it_there_is_no_voice() -> None:
    assert read_guidelines("# Brand\nOur voice is calm, dry and friendly, as everybody knows.").tone_of_voice == {}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://twitter.com/Otterware?s=20", ("twitter", "otterware")),
        ("https://x.com/otterware/", ("twitter", "otterware")),
        ("https://de.linkedin.com/company/otterware/about", ("linkedin", "otterware")),
        ("https://www.linkedin.com/in/somebody", ("", "")),
        ("https://x.com/intent/tweet", ("", "")),
        ("https://x.com/share", ("", "")),
        ("https://x.com/otterware/status/1", ("", "")),
        ("https://www.facebook.com/sharer/sharer.php?u=x", ("", "")),
        ("https://m.facebook.com/otterware", ("facebook", "otterware")),
        ("https://www.instagram.com/p/abc/", ("", "")),
        ("https://gist.github.com/otterware", ("", "")),
        ("https://www.youtube.com/@Otterware", ("youtube", "otterware")),
        ("https://www.youtube.com/watch?v=1", ("", "")),
        ("https://x.com.evil.example/otterware", ("", "")),
        ("javascript:alert(1)", ("", "")),
    ],
)
def test_only_profiles_are_accounts(url: str, expected: tuple[str, str]) -> None:
    assert find_account(url) == expected


def test_of_several_linked_accounts_the_one_with_the_name_is_taken_and_of_strangers_none() -> None:
    linked = [
        "https://x.com/stranger",
        "https://x.com/otterware_hq",
        "https://github.com/one",
        "https://github.com/two",
    ]

    assert choose_accounts([], linked, "otterware") == {"twitter": "https://x.com/otterware_hq"}


def test_a_theme_colour_that_blends_with_the_page_is_nobody_s_colour() -> None:
    page = parse(
        b"<meta name=theme-color content='#fefefe'>"
        b"<meta name=theme-color media='(prefers-color-scheme: dark)' content='#f00'>"
    )

    assert read_homepage(page, HOME, {}).colors == {}


def test_a_manifest_s_icons_are_found_from_where_it_is() -> None:
    found = read_homepage(
        parse(b"<title>x</title>"),
        HOME,
        {
            "name": "Otterware",
            "icons": [{"src": "a.png", "sizes": "48x48"}, {"src": "b.png", "sizes": "192x192 512x512"}],
        },
        manifest_url="https://www.otterware.com/app/site.webmanifest",
    )

    assert found.identity == {"name": "Otterware"}
    assert found.logos["icon"] == {
        "url": "https://www.otterware.com/app/b.png",
        "format": "png",
        "width": 512,
        "height": 512,
    }


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b"[" * 100_000])
def test_what_is_no_manifest_says_nothing(body: bytes) -> None:
    assert parse_manifest(body) == {}


def test_the_organisation_of_another_site_is_not_the_brand() -> None:
    page = parse(
        b'<script type="application/ld+json">{"@type": "Organization", "name": "Partner", "url": "https://partner.com"}</script>'
    )

    assert read_homepage(page, HOME, {}).identity == {}


def test_a_page_is_utf_8_where_nothing_says_another_charset() -> None:
    page = "<meta property='og:site_name' content='Ötter'>"

    assert read_homepage(parse(page.encode()), HOME, {}).identity == {"name": "Ötter"}
    assert read_homepage(parse(page.encode("latin-1"), "text/html; charset=latin-1"), HOME, {}).identity == {
        "name": "Ötter"
    }


def test_text_is_one_line_a_block_without_scripts() -> None:
    page = parse(
        b"<body><h2>One</h2><script>no</script>tail <ul><li>two <b>bold</b></li></ul><!-- c --><p>three<br>four</p>"
    )

    assert to_text(page) == "## One\ntail\n- two bold\nthree\nfour"


def test_the_candidates_are_those_of_the_contract_and_names_go_before_paths() -> None:
    found = to_candidates("otterware.com", "www.otterware.com")

    assert len(found) == len(set(found)) == 26
    assert (len(SUBDOMAINS), len(PATHS)) == (5, 21)
    assert found[0] == "https://brand.otterware.com/"
    assert found[5] == "https://www.otterware.com/brand"


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Acme", "Our brand guidelines", True),
        ("Acme", "Download logos and fonts", True),
        ("Acme", "Logos and fonts", False),
        ("Acme", "Branding, fontaine, presses and colouring", False),
        ("Page not found", "Our brand guidelines", False),
        ("Seite nicht gefunden | Acme", "Brand, press and media kit of all our brands. " * 40, False),
        ("Acme", "Error 404: the brand guidelines are gone", False),
        ("Log in | Acme brand portal", "Brand portal", False),
        ("Acme press kit", "", True),
    ],
)
def test_a_page_is_about_a_brand_by_a_sure_phrase_or_three_likely_words(title: str, text: str, expected: bool) -> None:
    assert is_brand_text(title, "", text) is expected


def test_logos_are_the_brand_s_own() -> None:
    page = parse(
        b"<img src=/a/logo.svg><img src=/x.png alt='Otterware logo on dark background'><img src=/otterware-symbol.png>"
        b"<img src=/partner-logo.svg alt='Partner logo'><img src=/photo.png alt='Otterware at sea'>"
        b"<a href=/logo.exe>Logo</a>"
    )

    assert {role: image["url"] for role, image in find_logos(page, HOME, "otterware").items()} == {
        "primary": f"{HOME}a/logo.svg",
        "dark": f"{HOME}x.png",
        "icon": f"{HOME}otterware-symbol.png",
    }


def test_who_comes_first_fills_and_nobody_overwrites() -> None:
    mine = Findings(colors={"primary": "#111111"}, palette=[Swatch("#111111")])
    other = Findings(
        identity={"name": "Otter", "tagline": ""},
        colors={"primary": "#222222", "accent": "#333333"},
        palette=[Swatch("#111111", "Coal", "text"), Swatch("#222222")],
    )

    filled = mine.fill(other)

    assert filled == ["identity.name", "colors.accent", "colors.palette"]
    assert mine.colors == {"primary": "#111111", "accent": "#333333"}
    assert mine.palette == [Swatch("#111111", "Coal", "text"), Swatch("#222222")]
    assert mine.fill(other) == []


def test_coverage_counts_what_is_there() -> None:
    three = [Swatch("#111111"), Swatch("#222222"), Swatch("#333333")]
    full = Findings(
        palette=three,
        logos={"primary": {}, "favicon": ""},
        typography={"heading": {}, "body": {}},
        tone_of_voice={"summary": "s"},
    )
    some = Findings(palette=three[:2], logos={"icon": {}}, typography={"mono": {}})

    assert full.to_coverage() == {"colors": "full", "logos": "full", "typography": "full", "tone_of_voice": "found"}
    assert some.to_coverage() == {
        "colors": "partial",
        "logos": "partial",
        "typography": "partial",
        "tone_of_voice": "none",
    }
    assert Findings().to_coverage(blocked=True)["extraction_blocked"] is True


def test_design_tokens_have_a_value_and_a_type_each() -> None:
    tokens = to_tokens(
        {"primary": "#111111", "secondary": "#222222", "surface": "#333333"},
        {"body": {"family": "Inter"}, "mono": {"family": "M"}},
    )

    assert tokens == {
        "color": {
            "brand": {"$value": "#111111", "$type": "color"},
            "secondary": {"$value": "#222222", "$type": "color"},
        },
        "font": {"body": {"$value": "Inter", "$type": "fontFamily"}},
    }
    assert to_tokens({}, {}) == {}


@pytest.mark.parametrize("text", ["otterware.com", "https://www.otterware.com/a?b#c", " WWW.Otterware.COM. "])
def test_a_domain_is_taken_out_of_what_people_write(text: str) -> None:
    assert to_domain(text) == "otterware.com"


@pytest.mark.parametrize(
    "text",
    [
        "otterware",
        "ftp://otterware.com",
        "http://10.0.0.1",
        "http://[::1]/",
        "u:p@otterware.com",
        "a b.com",
        "localhost",
    ],
)
def test_what_is_no_public_domain_is_refused(text: str) -> None:
    with pytest.raises(Fault) as refused:
        to_domain(text)

    assert refused.value.kind == "validation"


@given(
    st.text(max_size=300),
    st.sampled_from(["# Colors\n", "## Tone of voice\n- ", "## Fonts\nHeadings: ", "HEX ", "RGB "]),
)
def test_any_text_is_read_and_gives_colours_that_are_colours(text: str, before: str) -> None:
    found = read_guidelines(before + text)

    assert all(find_hex(one.hex) == one.hex for one in found.palette)
    assert all(code in {one.hex for one in found.palette} for code in found.colors.values())


@given(st.binary(max_size=400))
def test_any_bytes_are_a_page(body: bytes) -> None:
    page = parse(b"<html><body>" + body)

    assert isinstance(to_text(page), str)
    assert isinstance(read_homepage(page, HOME, parse_manifest(body)), Findings)
