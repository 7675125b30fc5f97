"""Serving many over HTTP: the ASGI adapter over the protocol core, its guards, who calls, and the process that runs it.

Imports `server` and the floors below. Nothing here is imported by a server on stdio.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .app import HttpApp
    from .serve import serve_http
    from .service import HttpService
    from .settings import HttpSettings, SettingsError

__getattr__ = exports(
    __name__,
    {
        "app": "HttpApp",
        "serve": "serve_http",
        "service": "HttpService",
        "settings": "HttpSettings SettingsError",
    },
)
