"""Model and arguments become an answer: plan, operations, executor, routing, circuit breaker, single-flight, metrics.

Imports `model`, `language`, `net`, `cache` and `plugins`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Arguments, parse_arguments
    from .circuit_breaker import Breakers
    from .cursor import find_position, paged_operation, write_cursor
    from .configuration import (
        ROUTING, SINGLE, RoutingError, configure, is_configured, missing_settings, plan_routes, read_settings,
        unset_personal,
    )
    from .degradation import NO_FAILURE, PHRASES, with_notices
    from .executor import Done, Executor, Prepared, describe_large, to_body
    from .live_context import LiveContext
    from .metrics import LATENCY_BOUNDS, CallerLimits, Count, new_histogram
    from .notices import none_configured, resolve
    from .operation import drive, drive_live, first_requests, perform
    from .plan import AnswerEnd, Ask, AskAll, Offer, PlanContext, ProviderOutcome, Pursuit, Run, Shortfall, plan_context
    from .presentation import Presented, Presenter, fit_to_budget, tell_failure, tell_within, to_text
    from .pages import PageIndex, PageMatch, make_page, settle
    from .quota_headers import Quota, read_quota
    from .recordings import (
        TOKEN_REPLY, RecordingSender, ReplaySender, Sender, Unsent, request_id, to_recording,
    )
    from .rehearsal import rehearse
    from .request import STEP, secrets_of
    from .resources import USAGE, ResourceContext, answer_resource, count_usage, list_rows, parameters_of, read_table
    from .stages import name_providers
    from .strategies import pursue
    from .traced_sender import TracedSender
    from .view import fill_view, script_json, show_answer, view_document

__getattr__ = exports(
    __name__,
    {
        "arguments": "Arguments parse_arguments",
        "circuit_breaker": "Breakers",
        "configuration": (
            "ROUTING SINGLE RoutingError configure is_configured missing_settings plan_routes read_settings "
            "unset_personal"
        ),
        "cursor": "find_position paged_operation write_cursor",
        "executor": "Done Executor Prepared describe_large to_body",
        "live_context": "LiveContext",
        "metrics": "LATENCY_BOUNDS CallerLimits Count new_histogram",
        "notices": "none_configured resolve",
        "operation": "drive drive_live first_requests perform",
        "degradation": "NO_FAILURE PHRASES with_notices",
        "plan": "AnswerEnd Ask AskAll Offer PlanContext ProviderOutcome Pursuit Run Shortfall plan_context",
        "presentation": "Presented Presenter fit_to_budget tell_failure tell_within to_text",
        "pages": "PageIndex PageMatch make_page settle",
        "quota_headers": "Quota read_quota",
        "recordings": "TOKEN_REPLY RecordingSender ReplaySender Sender Unsent request_id to_recording",
        "rehearsal": "rehearse",
        "request": "STEP secrets_of",
        "resources": "USAGE ResourceContext answer_resource count_usage list_rows parameters_of read_table",
        "stages": "name_providers",
        "strategies": "pursue",
        "traced_sender": "TracedSender",
        "view": "fill_view script_json show_answer view_document",
    },
)
