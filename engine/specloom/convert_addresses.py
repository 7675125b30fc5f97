"""Converters of links."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl, urljoin, urlsplit

from .converter import Converter, Moment, Parameter, register_in

OF_ADDRESSES: Final[dict[str, Converter]] = {}
converter = register_in(OF_ADDRESSES)


@converter("text", ("https://WWW.Demo.example:8080/a", None, "www.demo.example"), ("demo", None, None))
def host(value: str, _: Moment) -> str | None:
    """The host of a URL in lower case, without port."""
    try:
        return (urlsplit(value.strip()).hostname or "").rstrip(".") or None
    except ValueError:
        return None


@converter("text", ("/a", None, "https://demo.example/a"), ("//cdn.example/b", None, "https://cdn.example/b"))
def absolute(value: str, moment: Moment) -> str | None:
    """The URL a link on the page leads to."""
    try:
        url = urljoin(moment.url, value.strip())
        return url if urlsplit(url).scheme else None
    except ValueError:
        return None


@converter(
    "text",
    ("//demo.example/a b", None, "https://demo.example/a%20b"),
    ("javascript:void(0)", None, None),
    ("/relative", None, None),
)
def absolute_http(value: str, _: Moment) -> str | None:
    """The URL if it is a complete http or https one; one without a scheme (`//host/…`) gets https."""
    return to_http(value)


def to_http(text: str) -> str | None:
    """What the converter `absolute_http` makes of a text."""
    url = text.strip()
    url = f"https:{url}" if url.startswith("//") else url
    if not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and not re.search(r"\s", parts.netloc)
        good = good and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return url.replace(" ", "%20") if good else None


@converter(
    "text",
    ("/l/?to=https%3A%2F%2Fdemo.example%2F%3Fa%3D%2525&x=1", "to", "https://demo.example/?a=%25"),
    ("/l/?x=1", "to", None),
    parameters=(Parameter("name", "text"),),
)
def query_param(value: str, _: Moment, name: str) -> str | None:
    """The value of one parameter in the query of a URL, decoded once."""
    try:
        return next((found for key, found in parse_qsl(urlsplit(value.strip()).query) if key == name), None)
    except ValueError:
        return None
