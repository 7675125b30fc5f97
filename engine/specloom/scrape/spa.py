"""Hosts and addresses whose pages are nothing without their scripts, so that a browser reads them first."""

from __future__ import annotations

import re

_SPA_HOSTS = re.compile(
    r"(?:.*\.)?(?:go\.dev|linkedin\.com|facebook\.com|instagram\.com|medium\.com|dev\.to|youtube\.com|frontify\.com"
    r"|bsky\.app|tiktok\.com|threads\.net)|(?:patents|scholar|news|trends)\.google\.com"
    r"|(?:brand|press|newsroom|brandbook|identity|app|portal|design|style)\..+"
)


def is_spa_host(host: str) -> bool:
    """Whether pages of a host are worth nothing without their scripts."""
    return bool(_SPA_HOSTS.fullmatch(host))


def to_route(url: str) -> str:
    """The part of an address behind `#`, with it, where scripts make a page of it (`#/docs`, `#!docs`); else ""."""
    mark = url.find("#")
    return url[mark:] if mark >= 0 and url.startswith(("/", "!"), mark + 1) else ""
