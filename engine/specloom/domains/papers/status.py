"""What the tools and procedures about this instance do: what it may use, how it is, and whether its log holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specloom import __version__

from .config import log_path, store_root
from .download import granted
from .entries import SCHEMA_VERSION
from .errors import Refusal
from .metadata import ENABLED
from .pacing import PER_SECOND
from .provenance_log import verify
from .store import PaperStore

if TYPE_CHECKING:
    from specloom.plugins import Context


CORE_SOURCES = ("arxiv", "crossref", "unpaywall")
METADATA_SOURCES = {"openalex": "openalex", "semantic_scholar": "s2", "doaj": "doaj", "datacite": "datacite"}
"""Sources that can be switched on, by the name and in the order in which they are told."""


async def capability_profile(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    enabled = [name for name, key in METADATA_SOURCES.items() if context.config.get(ENABLED[key][0]) is not None]
    licensed = [one.source for one in granted(context.config)]
    return {
        "oa_enabled": True,
        "metadata_sources": enabled,
        "tdm_enabled": bool(licensed),
        **{f"tdm_{name}": f"tdm-{name}" in licensed for name in ("elsevier", "aps", "springer", "ieee")},
        "rate_limit_per_sec": PER_SECOND,
        "tier_1": list(CORE_SOURCES),
        "tier_2": enabled,
        "tier_3": licensed,
    }


async def health(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    store = PaperStore(store_root(context.config))
    return {
        "version": __version__,
        "schema_version": SCHEMA_VERSION,
        "store_writable": store.is_writable(),
        "build": {"version": __version__, "channel": "beta" if __version__.startswith("0.") else "stable"},
    }


async def verify_provenance(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    path = Path(given["path"]) if given.get("path") else log_path(context.config)
    try:
        if given.get("path") and not path.is_file():
            raise Refusal("LOG_ERROR", f"{path} is no file.")
        verdict = verify(path)
    except OSError as error:
        raise Refusal("LOG_ERROR", f"The provenance log {path} cannot be read: {error.strerror}.") from None
    return {"path": str(path), "rows": verdict.rows, "holds": not verdict.problem, "problem": verdict.problem}
