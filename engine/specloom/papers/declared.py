"""The words in which procedures of the paper store are declared: parts of their answers, and the settings they read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specloom.records import FLAG, OBJECT, TEXT, WHOLE, listed

from .publishers import PUBLISHERS

TEXTS = listed(TEXT)
ROWS = listed(OBJECT)
OPEN: dict[str, Any] = {}
"""What may be null, which a schema of one type cannot say."""

ERROR = {
    "type": "object",
    "properties": {
        "code": TEXT,
        "message": TEXT,
        "disposition": TEXT,
        "denial_context": OPEN,
        "remediation": ROWS,
        "retry_after_ms": WHOLE,
        "replayed": FLAG,
    },
    "required": ["code", "message", "disposition"],
}
REF = {"ref": OPEN}
FAILURE = {"ok": FLAG, **REF, "error": ERROR}

RECORDS = ("publication", "publisher_record", "oa_locations", "preprint", "work", "article_identifiers")
"""The capabilities that tell of papers; none gives a document."""

Settings = Mapping[str, Mapping[str, Any]]

STORE: Settings = {
    "DOIGET_STORE_ROOT": {
        "type": "text",
        "description": "The folder of the paper store; [store] root of config.toml or ./papers when left out.",
    }
}
LOG: Settings = {
    "DOIGET_LOG_PATH": {
        "type": "text",
        "description": "The provenance log; [log] path of config.toml or access.jsonl beside it when left out.",
    },
    "DOIGET_LOG_RETENTION_DAYS": {
        "type": "integer",
        "description": "Days for which a log that was put away is kept, 90 when left out; 0 keeps all.",
    },
}
SOURCES: Settings = {
    "DOIGET_ENABLE_DATACITE": {
        "type": "text",
        "description": "Set to anything: DataCite is asked for DOIs that Crossref does not have.",
    },
    "DOIGET_ENABLE_OPENALEX": {
        "type": "text",
        "description": "Set to anything: OpenAlex may be asked for records, open copies and citations.",
    },
    "DOIGET_ENABLE_S2": {
        "type": "text",
        "description": "Set to anything: Semantic Scholar is asked for DOIs that no registry has.",
    },
    "DOIGET_ENABLE_DOAJ": {
        "type": "text",
        "description": "Set to anything: the Directory of Open Access Journals is asked for DOIs that no registry has.",
    },
    **{
        name: declaration
        for one in PUBLISHERS
        for name, declaration in (
            (one.agreement, {"type": "text", "description": f"1 when you agreed with {one.title} on text mining."}),
            (one.key, {"type": "text", "secret": True, "description": f"Your key for text mining from {one.title}."}),
        )
    },
}
HOSTS: Settings = {
    "DOIGET_ADDITIONAL_HOSTS": {
        "type": "text",
        "description": "Further hosts of open copies, between commas: names, or *.name for those below.",
    },
    "DOIGET_BLOCKED_HOSTS": {
        "type": "text",
        "description": "Hosts that nothing is fetched from, between commas, whatever allows them.",
    },
    "DOIGET_TRUST_ACADEMIC_REPOS": {
        "type": "boolean",
        "description": "Whether open copies may come from the academic domains of fifteen countries.",
    },
    "DOIGET_TRUST_OA_REGISTRIES": {
        "type": "boolean",
        "description": "Whether open copies may come from Zenodo, OSF, HAL, SciELO and CORE.",
    },
}


def gives(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """The schema of an answer that has `ok` and, where the call failed, `error`."""
    return {
        "type": "object",
        "properties": {"ok": FLAG, **properties, "error": ERROR},
        "required": ["ok", *required],
    }
