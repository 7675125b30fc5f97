"""Model and arguments become an answer: plan, operations, executor, routing, circuit breaker, single-flight, metrics.

Imports `model`, `language`, `net`, `cache` and `plugins`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Arguments, parse_arguments
    from .circuit_breaker import Breakers
    from .configuration import is_configured, missing_settings, read_settings
    from .executor import Executor
    from .live_context import LiveContext
    from .operation.drive import drive, drive_live
    from .operation.oauth import STEP
    from .operation.run import first_requests, perform
    from .plan.context import PlanContext, plan_context
    from .plan.effects import Ask, AskAll, Offer, ProviderOutcome, Run
    from .plan.notices import none_configured, resolve
    from .plan.run import Pursuit, pursue
    from .recordings import RecordingSender, ReplaySender, Sender, request_id, to_recording, write_whole
    from .resources import ResourceContext, answer_resource, list_rows, parameters_of
    from .response_meta import describe_large
    from .tables import read_table

__getattr__ = exports(
    __name__,
    {
        "arguments": "Arguments parse_arguments",
        "circuit_breaker": "Breakers",
        "configuration": "is_configured missing_settings read_settings",
        "executor": "Executor",
        "live_context": "LiveContext",
        "operation.drive": "drive drive_live",
        "operation.oauth": "STEP",
        "operation.run": "first_requests perform",
        "plan.context": "PlanContext plan_context",
        "plan.effects": "Ask AskAll Offer ProviderOutcome Run",
        "plan.notices": "none_configured resolve",
        "plan.run": "Pursuit pursue",
        "recordings": "RecordingSender ReplaySender Sender request_id to_recording write_whole",
        "resources": "ResourceContext answer_resource list_rows parameters_of",
        "response_meta": "describe_large",
        "tables": "read_table",
    },
)
