"""The guarded transport: URL and address checks (SSRF guard), dialer, connection pool, redirects, decompression.

Imports `core`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .connections import Dialer, Resolver, Stream, build_tls_context, find_addresses, find_crumbs, resolve_name
    from .guard import ParsedUrl, PrivateHost, check_address, check_url, find_objection, host_matches, mask_url
    from .transport import Transport

__getattr__ = exports(
    __name__,
    {
        "connections": "Dialer Resolver Stream build_tls_context find_addresses find_crumbs resolve_name",
        "guard": "ParsedUrl PrivateHost check_address check_url find_objection host_matches mask_url",
        "transport": "Transport",
    },
)
