"""The procedures about this instance: what it may use, how it is, and whether its log holds and is up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import PLACES, StoragePlace, procedure
from specloom.records import FLAG, NUMBER, OBJECT, TEXT, WHOLE

from .declared import LOG, OPEN, SOURCES, STORE, TEXTS, gives

if TYPE_CHECKING:
    from pathlib import Path

    from specloom.desk import Desk


def _find_store(environ: Mapping[str, str]) -> Path:
    from .places import store_root

    return store_root(environ)


def _find_log(environ: Mapping[str, str]) -> Path:
    from .places import log_path

    return log_path(environ)


PLACES["paper store"] = StoragePlace(_find_store, "DOIGET_STORE_ROOT", "no paper can be kept")
PLACES["provenance log"] = StoragePlace(_find_log, "DOIGET_LOG_PATH", "no paper can be fetched", is_file=True)


@procedure(
    "paper_capabilities",
    parameters={},
    gives=gives(
        {
            "oa_enabled": FLAG,
            "metadata_sources": TEXTS,
            "tdm_enabled": FLAG,
            "tdm_elsevier": FLAG,
            "tdm_aps": FLAG,
            "tdm_springer": FLAG,
            "tdm_ieee": FLAG,
            "rate_limit_per_sec": NUMBER,
            "tier_1": TEXTS,
            "tier_2": TEXTS,
            "tier_3": TEXTS,
        }
    ),
    settings=SOURCES,
)
async def paper_capabilities(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Which sources this instance may use; tells no key."""
    from . import instance
    from .working import answered

    return await answered(instance.capability_profile, desk, parameters, echo="always")


@procedure(
    "paper_store_health",
    parameters={},
    gives=gives({"version": TEXT, "schema_version": TEXT, "store_writable": FLAG, "build": OBJECT}),
    settings=STORE,
)
async def paper_store_health(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Version, schema, and whether the store could be written; makes nothing."""
    from . import instance
    from .working import answered

    return await answered(instance.health, desk, parameters, echo="always")


@procedure(
    "verify_provenance",
    parameters={"path": TEXT},
    gives=gives({"path": TEXT, "rows": WHOLE, "holds": FLAG, "problem": TEXT}),
    settings=LOG,
)
async def verify_provenance(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Look at every row of the provenance log; `problem` names the first that does not hold."""
    from . import instance
    from .working import answered

    return await answered(instance.verify_provenance, desk, parameters, echo="never")


@procedure(
    "migrate_provenance",
    parameters={"path": TEXT, "dry_run": FLAG},
    gives=gives({"path": TEXT, "rows": WHOLE, "rewritten": WHOLE, "anchor_before": OPEN, "anchor_after": OPEN}),
    settings=LOG,
)
async def migrate_provenance(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a provenance log of the older format into the one that is written now; as it was, it stays beside it."""
    from . import migrating
    from .working import answered

    return await answered(migrating.migrate_provenance, desk, parameters, echo="never")
