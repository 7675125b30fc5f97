"""The compiled model: frozen dataclasses only, without a way to make or to run them.

Imports `language` and `plugins`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .heads import CapabilityHead, Heads, ObserverHead, OtherHead, ProviderHead, ToolHead
    from .image import (
        HEADS, KINDS, LISTED, SPEC, TABLES, Image, ImageError, ListedModel, check_owner, load_model, pack_image,
        repack_image,
    )
    from .late_mappings import DerivedMapping, LazyMapping
    from .model import (
        CollectionModel, Lens, Model, head_of_capability, head_of_provider, head_of_tool, make_heads,
    )
    from .provider import (
        COST_FACT, HALF_GIVEN, AddressPart, AddressPattern, AddressSegment, Argument, Arrangement, Capability,
        ErrorRule, Grant, IdentityKey, Join, Nearest, Operation, PageAddress, PageModel, PageQuestion, Paging,
        Provider, QuotaHeaders, ResponseMapping, Retry, RowIdentity, Service, Shard, Step, parse_address,
    )
    from .resource import HOLE, Completion, Resource, Source
    from .tables import BreakerRow, CallCounts, FailureRow, LensRow, Pace, ProviderRow, StallsRow, Tables, TenantRow
    from .answer_text import SEPARATOR, AnswerBody, AnswerGroup, AnswerLine, AnswerPart, AnswerWindow, has_window
    from .tool import (
        BUDGET, HINTS, NOTICES, TRUST, Access, Advice, Again, AnswerBudget, AnswerKey, Cache, CursorInput, Hints,
        Input, LinkPolicy, Merge, Part, Reads, Shortening, Stage, Strategy, Tool, asked_by, questions, stages_of,
    )
    from .toolset import NAMED_TOOL, Toolset, instructions_for, served_prompts
    from .view import View, ViewRows
    from .values import NULL_KEPT, Field, Pair, Row, Setting, Uses, Value, make_setting

__getattr__ = exports(
    __name__,
    {
        "heads": "CapabilityHead Heads ObserverHead OtherHead ProviderHead ToolHead",
        "image": (
            "HEADS KINDS LISTED SPEC TABLES Image ImageError ListedModel check_owner load_model pack_image repack_image"
        ),
        "late_mappings": "DerivedMapping LazyMapping",
        "model": "CollectionModel Lens Model head_of_capability head_of_provider head_of_tool make_heads",
        "provider": (
            "COST_FACT HALF_GIVEN AddressPart AddressPattern AddressSegment Argument Arrangement Capability "
            "ErrorRule Grant IdentityKey Join Nearest Operation PageAddress PageModel PageQuestion Paging "
            "Provider QuotaHeaders ResponseMapping Retry RowIdentity Service Shard Step parse_address"
        ),
        "resource": "HOLE Completion Resource Source",
        "tables": "BreakerRow CallCounts FailureRow LensRow Pace ProviderRow StallsRow Tables TenantRow",
        "answer_text": "SEPARATOR AnswerBody AnswerGroup AnswerLine AnswerPart AnswerWindow has_window",
        "tool": (
            "BUDGET HINTS NOTICES TRUST Access Advice Again AnswerBudget AnswerKey Cache CursorInput Hints Input "
            "LinkPolicy Merge Part Reads Shortening Stage Strategy Tool asked_by questions stages_of"
        ),
        "toolset": "NAMED_TOOL Toolset instructions_for served_prompts",
        "view": "View ViewRows",
        "values": "NULL_KEPT Field Pair Row Setting Uses Value make_setting",
    },
)
