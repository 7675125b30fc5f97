"""A link target becomes an absolute http address that Markdown can hold, or nothing."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

_DROPPED: Final = re.compile(r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_UNSAFE: Final = re.compile(r"[\s<>\"`|\\^{}\[\]]")
_HOST: Final = re.compile(r"https?://[^/?#\s\[\]\\]", re.IGNORECASE)
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
_TRACKING: Final = re.compile(
    r"\?(?:(?:utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|ref|ref_src|share|_ga)(?:=[^&]*)?(?:&|$))+$"
)
MAX_LENGTH: Final = 2000
"""Characters of an address. Longer ones carry state or data, not a place to read."""


class Links:
    """Resolves the targets of one page; the same target is resolved once."""

    __slots__ = ("_base", "_known", "_origin", "_page", "_scheme")

    def __init__(self, base: str) -> None:
        parts = urlsplit(base) if base else None
        good = parts is not None and parts.scheme in ("http", "https") and bool(parts.netloc)
        self._base = base if good else ""
        self._page = base.partition("#")[0] if good else ""
        self._scheme = parts.scheme + ":" if parts and good else ""
        self._origin = f"{parts.scheme}://{parts.netloc}" if parts and good else ""
        self._known: dict[str, str] = {}

    def resolve(self, target: str | None) -> str:
        """The absolute address, or "" for one that leads nowhere else: fragments, other schemes, tracking alone."""
        if not target:
            return ""
        known = self._known.get(target)
        if known is None:
            known = self._known[target] = self._resolve(target)
        return known

    def stays(self, target: str) -> bool:
        """Whether an address names a place on the page itself."""
        target = target.strip()
        if target.startswith("#"):
            return True
        if "#" not in target or not self._page or len(target) > MAX_LENGTH:
            return False
        try:
            return urljoin(self._base, target).partition("#")[0] == self._page
        except ValueError:
            return False

    def _resolve(self, target: str) -> str:
        target = target.strip()
        if not target or target[0] == "#" or len(target) > MAX_LENGTH or _TRACKING.match(target):
            return ""
        # Browsers take white space and controls out before they look for the scheme.
        lean = _DROPPED.sub(lambda run: "%20" if run[0] == " " else "", target)
        scheme = _SCHEME.match(lean)
        if scheme:
            if scheme[1].lower() not in ("http", "https"):
                return ""
            url = lean
        elif lean.startswith("//"):
            url = self._scheme + lean if self._scheme else "https:" + lean
        elif not self._base:
            return ""
        elif lean.startswith("/") and "/." not in lean:
            url = self._origin + lean
        else:
            try:
                url = urljoin(self._base, lean)
            except ValueError:
                return ""
        head, mark, _ = url.partition("#")
        if mark and head == self._page:
            return ""
        if not _HOST.match(url):
            return ""
        url = _UNSAFE.sub(_encode, url)
        if "(" in url or ")" in url:
            url = url if _is_balanced(url) else url.replace("(", "%28").replace(")", "%29")
        return url


def _encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _is_balanced(url: str) -> bool:
    depth = 0
    for char in url:
        if char == "(":
            depth += 1
            if depth > 1:
                return False
        elif char == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0
