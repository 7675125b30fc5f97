"""Values that every room speaks: faults, diagnostics, HTTP messages, secrets, dates, paths, environment, limits.

Imports no other room; every room may import it.
"""

from __future__ import annotations

from .lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .backplane import (
        MOST_PAYLOAD, MOST_STARTS, Backplane, BackplaneError, Bus, Counters, Lease, Leases, SharedCache,
    )
    from .changes import ChangeDetector
    from .dataclasses import dataclass, field, replace
    from .dates import FORMATS, from_epoch, is_day, to_timestamp
    from .diagnostics import (
        CODES, Diagnostic, Place, Report, TooManyProblemsError, count_errors, did_you_mean, find_nearest, render,
    )
    from .environment import VARIABLES, Variable, VariableError, VariableProblems, read_variable
    from .faults import KINDS, MAY_BE_WRITTEN, Action, Fault, all_failed, to_plain
    from .garbage_collection import collect_seldom, keep
    from .limits import Limiter, Pacer, Rate, parse_duration, parse_rate, parse_size, refuse_start
    from .markup import drop_tags
    from .messages import Answer, Header, Policy, PagePosition, Request, Response, redact_response
    from .page_addresses import canonical_url, is_tracker, strip_trackers
    from .paths import (
        ENGINE_SUFFIXES, NAME, PAGE_TEMPLATES, PROJECT_FILE, PROJECT_VARIABLE, PROMPTS, PROMPT_SUFFIX, STATE_VARIABLE,
        VIEW_SUFFIX, VIEWS, cache_folder, config_folder, make_database, make_folder, make_own_folder, open_private,
        command_name, data_name, find_other_owner, own_words, project_id,
        program_name, project_folder, shipped_folder, spec_layers, state_folder, write_whole,
    )
    from .process import Ended, end, restrict, run, start
    from .sandbox import EndedFault, run_apart
    from .secrets import (
        KEY_BYTES, KEY_FILE, KEY_VARIABLE, MASK, Secret, holds_secret, keyed_digest, load_key, looks_issued,
        looks_secret, mask, mask_values, redact, redact_body, seal, unseal,
    )
    from .terminal import (
        Paint, SafeStream, answer_lines, columns, cut, fault_line, printable, request_lines, request_to_json, row_lines,
        secrets_in, table, to_json,
    )
    from .tables import find_tables, keep_tables, load_table, read_table
    from .templates import PageTemplate, fill_template, template_environment, template_renderer, text_filter
    from .text import clean, cut_text, dump_clean, escape, fold_name, is_clean, parse_json, to_clean
    from .tokens import count_tokens
    from .tracing import Tracer, find_tracer, span
    from .views import (
        SLOT_TYPES, VIEW_ADDRESS, VIEW_EXTENSION, VIEW_META, VIEW_MIME, VIEW_SCRIPTS, ViewSlot, ViewTemplate,
        shows_views,
    )

__getattr__ = exports(
    __name__,
    {
        "backplane": "MOST_PAYLOAD MOST_STARTS Backplane BackplaneError Bus Counters Lease Leases SharedCache",
        "changes": "ChangeDetector",
        "dataclasses": "dataclass field replace",
        "dates": "FORMATS from_epoch is_day to_timestamp",
        "diagnostics": (
            "CODES Diagnostic Place Report TooManyProblemsError count_errors did_you_mean find_nearest render"
        ),
        "environment": "VARIABLES Variable VariableError VariableProblems read_variable",
        "faults": "KINDS MAY_BE_WRITTEN Action Fault all_failed to_plain",
        "garbage_collection": "collect_seldom keep",
        "limits": "Limiter Pacer Rate parse_duration parse_rate parse_size refuse_start",
        "markup": "drop_tags",
        "messages": "Answer Header Policy PagePosition Request Response redact_response",
        "page_addresses": "canonical_url is_tracker strip_trackers",
        "paths": (
            "ENGINE_SUFFIXES NAME PAGE_TEMPLATES PROJECT_FILE PROJECT_VARIABLE PROMPTS PROMPT_SUFFIX STATE_VARIABLE "
            "VIEW_SUFFIX VIEWS cache_folder config_folder make_database make_folder make_own_folder open_private "
            "command_name data_name find_other_owner own_words project_id "
            "program_name project_folder shipped_folder spec_layers state_folder write_whole"
        ),
        "process": "Ended end restrict run start",
        "sandbox": "EndedFault run_apart",
        "secrets": (
            "KEY_BYTES KEY_FILE KEY_VARIABLE MASK Secret holds_secret keyed_digest load_key looks_issued "
            "looks_secret mask mask_values redact redact_body seal unseal"
        ),
        "terminal": (
            "Paint SafeStream answer_lines columns cut fault_line printable request_lines request_to_json row_lines "
            "secrets_in table to_json"
        ),
        "tables": "find_tables keep_tables load_table read_table",
        "templates": "PageTemplate fill_template template_environment template_renderer text_filter",
        "text": "clean cut_text dump_clean escape fold_name is_clean parse_json to_clean",
        "tokens": "count_tokens",
        "tracing": "Tracer find_tracer span",
        "views": (
            "SLOT_TYPES VIEW_ADDRESS VIEW_EXTENSION VIEW_META VIEW_MIME VIEW_SCRIPTS ViewSlot ViewTemplate shows_views"
        ),
    },
)
