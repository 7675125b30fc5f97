"""How pages are read: limits and choices, with the settings of the contract that change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Literal

from specloom.core import dataclass

Identity = Literal["browser", "honest"]

MB = 1024 * 1024

SETTINGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "ALLOWED_DOMAINS": {
            "description": "Comma list of the only domains whose pages are read, each with everything below it."
        },
        "CHROME_PATH": {
            "description": "Where Chromium or Chrome is; `disabled` never starts one. When not set: it is looked for."
        },
        "BROWSER_IDLE_SECONDS": {
            "type": "number",
            "default": 300,
            "description": "After how many seconds without a page the browser is closed; 0 keeps it.",
        },
        "MAX_SCRAPE_CONCURRENCY": {
            "type": "integer",
            "default": 64,
            "description": "Requests for pages at once. One that waits for a slow host longer than two seconds no "
            "longer counts.",
        },
        "MAX_SCRAPE_CONCURRENCY_BROWSER": {"type": "integer", "default": 2, "description": "Browser pages at once."},
        "MAX_SCRAPE_CONCURRENCY_PER_TENANT": {
            "type": "integer",
            "description": "Requests for pages at once for one tenant. When not set: as many as for all.",
        },
        "MAX_SCRAPE_CONCURRENCY_PER_HOST": {
            "type": "integer",
            "default": 2,
            "description": "Requests at once to one public host.",
        },
        "MAX_HTML_BYTES": {"type": "integer", "default": 8 * MB, "description": "The largest page that is read."},
        "MAX_DOCUMENT_BYTES": {
            "type": "integer",
            "default": 50 * MB,
            "description": "The largest PDF or office document that is read.",
        },
        "READER_SERVICE": {
            "type": "boolean",
            "default": False,
            "description": "Whether a reader service is asked for pages that cannot be read from here. It is told "
            "their addresses.",
        },
        "SCRAPE_IDENTITY": {
            "default": "browser",
            "description": "`browser` repeats a refused request with the headers of a desktop browser; `honest` never "
            "pretends to be one.",
        },
        "SCRAPE_ROBOTS": {
            "type": "boolean",
            "default": False,
            "description": "Whether robots.txt is obeyed: pages closed to robots are not read, and delays are kept.",
        },
    }
)
"""The settings of tools that read pages, declared as under `config` of a tool."""


@dataclass(frozen=True, slots=True)
class Options:
    """How pages are read. Sizes are bytes, times are seconds, limits by tier are those of the contract."""

    allow_private: bool = False
    allowed_domains: tuple[str, ...] = ()
    """The only domains whose pages are read, with everything below them; empty means all."""
    identity: Identity = "browser"
    chrome: str = ""
    """Where the browser is, `disabled`, or empty to look for it."""
    robots: bool = False
    reader: bool = False
    paid: bool = True
    """Whether a paid service may be asked, where one is configured, for the address that the caller named."""
    max_length: int = 50_000
    """Bytes wanted of a raw body, and of the text that a service is asked for."""
    max_html_bytes: int = 8 * MB
    max_document_bytes: int = 50 * MB
    redirects: int = 10
    is_site: Callable[[str], bool] | None = field(default=None, compare=False, repr=False)
    """Tells an address that a provider reads: a redirect there ends with `fetching.Elsewhere`; None reads it."""
    deadline: float = 60.0
    plain_timeout: float = 15.0
    stealth_timeout: float = 20.0
    document_timeout: float = 30.0
    """For an address that says that a document is behind it, in the place of the two above."""
    service_timeout: float = 30.0
    browser_timeout: float = 30.0
    browser_idle: float = 300.0
    slots: int = 64
    browser_slots: int = 2
    tenant_slots: int = 0
    """Requests at once for one tenant; 0 means as many as for all."""
    host_slots: int = 2
    host_spacing: float = 0.1
    """Between the starts of two readings of one public host."""


def to_options(config: Mapping[str, Any], **others: Any) -> Options:
    """The options that the settings ask for; `others` are fields of `Options` and win.

    A number below its least is raised to it: no setting can switch a bound off.
    """

    def number(name: str, least: float) -> Any:
        value = config.get(name)
        return max(least, SETTINGS[name].get("default", 0) if value is None else value)

    values: dict[str, Any] = {
        "allowed_domains": tuple(
            part.strip() for part in str(config.get("ALLOWED_DOMAINS") or "").split(",") if part.strip()
        ),
        "identity": "honest" if str(config.get("SCRAPE_IDENTITY") or "").strip().lower() == "honest" else "browser",
        "chrome": str(config.get("CHROME_PATH") or "").strip(),
        "robots": bool(config.get("SCRAPE_ROBOTS")),
        "reader": bool(config.get("READER_SERVICE")),
        "max_html_bytes": number("MAX_HTML_BYTES", 1024),
        "max_document_bytes": number("MAX_DOCUMENT_BYTES", 1024),
        "browser_idle": number("BROWSER_IDLE_SECONDS", 0),
        "slots": number("MAX_SCRAPE_CONCURRENCY", 1),
        "browser_slots": number("MAX_SCRAPE_CONCURRENCY_BROWSER", 1),
        "tenant_slots": number("MAX_SCRAPE_CONCURRENCY_PER_TENANT", 0),
        "host_slots": number("MAX_SCRAPE_CONCURRENCY_PER_HOST", 1),
    }
    return Options(**(values | others))
