"""MCP: protocol core, stdio host, the catalogue's image, resources, the SDK as a second host.

Imports `runtime`, `storage`, `model`, `specs` and `compiler`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .backend import Backends
    from .calls import LiveCall
    from .catalogue import CATALOGUES, OUTPUT_SCHEMAS, Selection, load_image, make_catalogue, name_server, select
    from .connection import CHANGES, Announcements, Connection, check_modern
    from .daily_quota import DAY, ForwardingBackend, find_midnight, make_limit_fault, name_counter, name_day
    from .frames import VERSION_KEY, parse, to_error, to_notification, to_request
    from .protocol import (
        HANDSHAKE_VERSIONS,
        INTERNAL_ERROR,
        INVALID_REQUEST,
        METHOD_NOT_FOUND,
        MODERN_VERSIONS,
        PARSE_ERROR,
        UNSUPPORTED_VERSION,
        Backend,
        Call,
        Catalogue,
        NoChannel,
        ProtocolError,
    )
    from .served import find_digest, forget_opened, load_heads, load_served, open_tables, version_line
    from .tool_search import CALL_TOOL, FIND_TOOL
    from .traced_backend import TracedBackend
    from .start import (
        ServeOptions,
        check_shared,
        default_selection,
        load_catalogue,
        make_backends,
        make_executor,
        make_presenter,
        open_run_folder,
        read_switch,
        report,
        run,
        warn,
    )
    from .variables import examine_environment, find_switched_off, list_settings

__getattr__ = exports(
    __name__,
    {
        "backend": "Backends",
        "calls": "LiveCall",
        "connection": "CHANGES Announcements Connection check_modern",
        "daily_quota": "DAY ForwardingBackend find_midnight make_limit_fault name_counter name_day",
        "frames": "VERSION_KEY parse to_error to_notification to_request",
        "protocol": (
            "HANDSHAKE_VERSIONS INTERNAL_ERROR INVALID_REQUEST METHOD_NOT_FOUND MODERN_VERSIONS PARSE_ERROR "
            "UNSUPPORTED_VERSION Backend Call Catalogue NoChannel ProtocolError"
        ),
        "catalogue": "CATALOGUES OUTPUT_SCHEMAS Selection load_image make_catalogue name_server select",
        "served": "find_digest forget_opened load_heads load_served open_tables version_line",
        "tool_search": "CALL_TOOL FIND_TOOL",
        "traced_backend": "TracedBackend",
        "start": (
            "ServeOptions check_shared default_selection load_catalogue make_backends make_executor make_presenter "
            "open_run_folder read_switch report run warn"
        ),
        "variables": "examine_environment find_switched_off list_settings",
    },
)
