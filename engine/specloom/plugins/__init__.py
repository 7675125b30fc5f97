"""The contract between the engine and hand-written domain code: registry, procedure context, collections, schemas.

Imports `core`; domains reach the engine through this room, and the engine reaches domains through it.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .collections import (
        ARTIFACTS, CONSENTS, ENGINE_NEEDS, MEMBERS, NOTHING, NOT_MEMBER, PURPOSES, REASONS, Change, Collection,
        CollectionNeed, CollectionSpec, CollectionStore, Collections, Erased, Event, Item, Json, Refusal, SearchHit,
        Move, WriteConflict, find_decision, find_refusal, is_anonymous, is_member, join_owner, member_key, split_owner,
    )
    from .context import Artifact, ArtifactContent, ArtifactKeeper, CallRecord, Context, Kept, SitePage, SiteRoute
    from .reading import OpenedText, WholeText
    from .records import JsonObject, from_json, inline, key, keys_of, schema_of, to_json
    from .registry import (
        CLOSERS, ENVELOPES, GROUP, HOOKS, LISTS, OBSERVERS, PLACES, PROCEDURES, PROGRAMS, WINDOWS, Envelope, Hook,
        ObservedCall, Observer, Procedure, ProcedureFunction, Row, StoragePlace, Window, delete_derived, expect,
        find_derived, find_reader, load_hooks, open_text, procedure, registered, say_remaining,
    )
    from .schemas import FLAG, NUMBER, OBJECT, TEXT, WHOLE, closed, listed, record, texts

__getattr__ = exports(
    __name__,
    {
        "collections": (
            "ARTIFACTS CONSENTS ENGINE_NEEDS MEMBERS NOTHING NOT_MEMBER PURPOSES REASONS Change Collection "
            "CollectionNeed CollectionSpec CollectionStore Collections Erased Event Item Json Refusal SearchHit "
            "Move WriteConflict find_decision find_refusal is_anonymous is_member join_owner member_key split_owner"
        ),
        "context": "Artifact ArtifactContent ArtifactKeeper CallRecord Context Kept SitePage SiteRoute",
        "reading": "OpenedText WholeText",
        "records": "JsonObject from_json inline key keys_of schema_of to_json",
        "registry": (
            "CLOSERS ENVELOPES GROUP HOOKS LISTS OBSERVERS PLACES PROCEDURES PROGRAMS WINDOWS Envelope Hook "
            "ObservedCall Observer Procedure ProcedureFunction Row StoragePlace Window delete_derived expect "
            "find_derived find_reader load_hooks open_text procedure registered say_remaining"
        ),
        "schemas": "FLAG NUMBER OBJECT TEXT WHOLE closed listed record texts",
    },
)
