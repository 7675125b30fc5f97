"""What a homepage declares about its brand: JSON-LD, Open Graph, theme colour, manifest, icons and accounts.

Only what is stated for machines is taken; style sheets are not looked at and nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.core import load_table
from specloom.domains.text import find_links, invert, join, to_host, to_registrable, to_word_set

from .findings import Findings, Swatch, find_hex

if TYPE_CHECKING:
    from lxml.html import HtmlElement


# --- Which account of a social network an address is: profile pages only, never buttons that share or show one
# post -----------------------------------------------------------------------------------------------------------------


_TABLE = load_table(__file__, "brand.yaml")
_NETWORKS = invert({network: domains for network, (domains, _) in _TABLE["networks"].items()})
_PROFILES = {network: re.compile(path) for network, (_, path) in _TABLE["networks"].items()}
_PAGES = to_word_set(_TABLE["no_profile"])


def find_account(url: str) -> tuple[str, str]:
    """The network and the handle that an address leads to; two empty texts where it is nobody's profile."""
    host = to_host(url)
    network = _NETWORKS.get(to_registrable(host), "")
    # Names below a network are its own services ("gist.github.com"), those of a language or a small screen are not.
    if not network or (len(host.split(".")[0]) > 3 and host.count(".") > 1):
        return "", ""
    match = _PROFILES[network].fullmatch(urlsplit(url).path.rstrip("/"))
    if match is None or match[1].lower() in _PAGES:
        return "", ""
    return network, match[1].lower()


def choose_accounts(declared: list[str], linked: list[str], label: str) -> dict[str, str]:
    """The address of one account a network: a declared one, else the only one that is linked, else one with the name.

    `label` is the name in the domain. Of several strangers none is taken, because nothing says which is the brand's.
    """
    chosen: dict[str, str] = {}
    for url in declared:
        network, _ = find_account(url)
        if network:
            chosen.setdefault(network, _clean(url))
    handles: dict[str, dict[str, str]] = {}
    for url in linked:
        network, handle = find_account(url)
        if network and network not in chosen:
            handles.setdefault(network, {}).setdefault(handle, _clean(url))
    for network, accounts in handles.items():
        named = [handle for handle in accounts if label and label in handle]
        if len(accounts) == 1 or named:
            chosen[network] = accounts[named[0] if named else next(iter(accounts))]
    return chosen


def _clean(url: str) -> str:
    parts = urlsplit(url)
    return f"https://{to_host(url)}{parts.path.rstrip('/')}"


_LONGEST = 2000
_DOWN = ("@graph", "publisher", "mainEntity", "about")
_DEEPEST = 12
_MOST_NODES = 500
# Types of schema.org that are companies; the many kinds of businesses and organisations end in those words.
_KINDS = frozenset(("Brand", "Corporation", "Airline", "NGO", "Consortium", "OnlineStore"))
_YEAR = re.compile(r"\b(1[0-9]{3}|20[0-9]{2})\b")
_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})", re.IGNORECASE)
_COUNTRY = re.compile(r"[A-Za-z]{2}")
_FORMAT = re.compile(r"\.(svg|png|ico|jpe?g|webp|gif|avif)(?:[?#]|$)", re.IGNORECASE)


def read_homepage(root: HtmlElement, url: str, manifest: Mapping[str, Any], *, manifest_url: str = "") -> Findings:
    """What a parsed homepage declares; `url` is where it was found, `manifest` what its web app manifest says."""
    meta: dict[str, str] = {}
    for node in root.xpath("//meta[@content][@name or @property]"):
        if value := _text(node.get("content")):
            meta.setdefault(str(node.get("property") or node.get("name")).strip().lower(), value)
    company = find_company(root, url)
    findings = Findings()
    # The name that the page's JSON-LD gives the web site.
    sites = (node for node in _describe(root) if "WebSite" in _to_list(node.get("@type")))
    site_name = next((_text(node.get("name")) for node in sites), "")
    date = company.get("foundingDate")
    founded = _YEAR.search(str(date)) if isinstance(date, str | int) else None
    findings.identity = _drop_empty(
        {
            "name": _text(company.get("name")) or meta.get("og:site_name") or meta.get("application-name")
            or _text(manifest.get("name")) or site_name,
            "tagline": _text(company.get("slogan")),
            "description": _text(company.get("description")) or meta.get("og:description") or meta.get("description"),
            "industry": _text(company.get("industry")),
            "founded": int(founded[1]) if founded else None,
            "location": _find_location(company.get("address")),
        }
    )  # fmt: skip
    findings.logos = _drop_empty(
        {
            "primary": _find_logo(company.get("logo"), url),
            "icon": _find_icon(root, url, manifest, manifest_url or url),
            "favicon": _find_favicon(root, url),
            "og_image": join(url, meta.get("og:image", "")) if meta.get("og:image") else "",
        }
    )
    declared = [text for one in _to_list(company.get("sameAs")) if (text := _text(one))]
    site, label = meta.get("twitter:site", ""), (to_registrable(to_host(url)) or to_host(url)).split(".")[0]
    if re.fullmatch(r"@\w{1,15}", site):
        declared.append(f"https://x.com/{site[1:]}")
    findings.social = choose_accounts(declared, [link for link, _ in find_links(root, url)], label)
    _add_colors(findings, root, manifest)
    fonts = root.xpath("string(//link[contains(@href, '//fonts.googleapis.com/css')][1]/@href)")
    if fonts:
        findings.typography["google_fonts_url"] = join(url, str(fonts))
    return findings


def find_manifest(root: HtmlElement, url: str) -> str:
    """The address of the web app manifest, "" where there is none."""
    address = str(root.xpath("string(//link[@rel='manifest'][1]/@href)"))
    return join(url, address) if address else ""


def parse_manifest(body: bytes) -> dict[str, Any]:
    """A web app manifest as an object; empty where it is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def find_company(root: HtmlElement, url: str) -> dict[str, Any]:
    """The organisation of the page's JSON-LD whose site this is, else the first that names no other site."""
    own = to_registrable(to_host(url)) or to_host(url)
    others: list[dict[str, Any]] = []
    for node in _describe(root):
        kinds = [_text(kind).rpartition("/")[2] for kind in _to_list(node.get("@type"))]
        if not any(kind in _KINDS or kind.endswith(("Organization", "Business")) for kind in kinds):
            continue
        host = to_host(_text(node.get("url")))
        if (to_registrable(host) or host) == own:
            return node
        if not host:
            others.append(node)
    return others[0] if others else {}


def _describe(root: HtmlElement) -> Iterator[dict[str, Any]]:
    """The objects of the page's JSON-LD that are about it, block after block; what is not JSON is passed over."""
    for script in root.xpath("//script[@type='application/ld+json']/text()")[:16]:
        try:
            value = json.loads(str(script))
        except (ValueError, RecursionError):
            continue
        yield from _walk(value)


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a JSON-LD value that are about this page: its graph, and who publishes or is described by it."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    seen = 0
    while waiting and seen < _MOST_NODES:
        node, depth = waiting.pop(0)
        seen += 1
        if isinstance(node, list):
            waiting.extend((each, depth) for each in node[:_MOST_NODES])
        elif isinstance(node, dict) and depth < _DEEPEST:
            yield node
            waiting.extend((node[key], depth + 1) for key in _DOWN if key in node)


def _add_colors(findings: Findings, root: HtmlElement, manifest: Mapping[str, Any]) -> None:
    """The theme colour as primary, unless it is a neutral that only blends with the page, and the app's background.

    Both are what a browser paints around the page, so they stand only until a brand page names such a colour.
    """
    themes = [
        find_hex(str(node.get("content") or ""))
        for node in root.xpath("//meta[@name='theme-color']")
        if "dark" not in str(node.get("media") or "")
    ]
    theme = next((code for code in [*themes, find_hex(_text(manifest.get("theme_color")))] if code), "")
    if theme and not Swatch(theme).is_neutral:
        findings.colors["primary"] = theme
        findings.makeshift.add("primary")
        findings.palette.append(Swatch(theme, role="primary"))
    background = find_hex(_text(manifest.get("background_color")))
    if background:
        findings.colors["background"] = background
        findings.makeshift.add("background")
        findings.palette.append(Swatch(background, role="background"))


def _find_logo(value: Any, base: str) -> dict[str, Any]:
    """A logo of JSON-LD, which is an address or an object with one."""
    for logo in _to_list(value):
        fields = logo if isinstance(logo, dict) else {"url": logo}
        address = _text(fields.get("url")) or _text(fields.get("contentUrl")) or _text(fields.get("@id"))
        url = join(base, address) if address else ""
        if url:
            return to_image(url, _to_pixels(fields.get("width")), _to_pixels(fields.get("height")))
    return {}


def to_image(url: str, width: int | None = None, height: int | None = None) -> dict[str, Any]:
    """An image under the contract's names: the format is what the address ends in, where that says one."""
    match = _FORMAT.search(url)
    fields = {"url": url, "format": match[1].lower() if match else "", "width": width, "height": height}
    return _drop_empty(fields)


def _find_icon(root: HtmlElement, base: str, manifest: Mapping[str, Any], manifest_url: str) -> dict[str, Any]:
    """The largest touch icon, else the largest icon of the manifest that is not cut to a shape."""
    touched = [
        (_to_size(str(node.get("sizes") or "")), join(base, str(node.get("href"))))
        for node in root.xpath("//link[@href][starts-with(@rel, 'apple-touch-icon')]")
    ]
    listed = [
        (_to_size(_text(icon.get("sizes"))), join(manifest_url, _text(icon.get("src"))))
        for icon in _to_list(manifest.get("icons"))
        if isinstance(icon, dict) and "maskable" not in _text(icon.get("purpose")) and _text(icon.get("src"))
    ]
    for icons in (touched, listed):
        if addressed := [icon for icon in icons if icon[1]]:
            (width, height), url = max(addressed, key=lambda icon: icon[0][0])
            return to_image(url, width or None, height or None)
    return {}


def _find_favicon(root: HtmlElement, base: str) -> str:
    """The declared icon: one that scales, else the largest; an address that nobody declares is not guessed."""
    icons = []
    for node in root.xpath("//link[@href][contains(concat(' ', normalize-space(@rel), ' '), ' icon ')]"):
        url = join(base, str(node.get("href")))
        if url and "dark" not in str(node.get("media") or ""):
            scales = "svg" in str(node.get("type") or "") or url.endswith(".svg")
            icons.append((scales, _to_size(str(node.get("sizes") or ""))[0], url))
    return max(icons, key=lambda icon: icon[:2], default=(False, 0, ""))[2]


def _find_location(value: Any) -> dict[str, str]:
    address = next((one for one in _to_list(value) if isinstance(one, dict)), {})
    country = address.get("addressCountry")
    code = _text(country.get("name") if isinstance(country, dict) else country)
    fields = {
        "city": _text(address.get("addressLocality")),
        "country_code": code.upper() if _COUNTRY.fullmatch(code) else "",
    }
    return _drop_empty(fields)


def _to_size(sizes: str) -> tuple[int, int]:
    return max(((int(size[1]), int(size[2])) for size in _SIZE.finditer(sizes[:200])), default=(0, 0))


def _to_pixels(value: Any) -> int | None:
    match = re.fullmatch(r"(\d{1,5})(?:\.0+)?(?: ?px)?", _text(value)) if isinstance(value, str | int | float) else None
    return int(match[1]) if match else None


def _to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: Any) -> str:
    """A text or a number on one line; of a list the first, and of a text with its language the text."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("@value")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())[:_LONGEST]


def _drop_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}
