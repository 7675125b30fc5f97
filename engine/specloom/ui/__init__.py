"""The local page of who writes specs and who operates a server: tools as forms, and what a call does, in a browser.

Imports `authoring`, `server` and the floors below; only the command line imports it.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .actions import Actions, Wrap
    from .loopback import LoopbackServer, serve_page

__getattr__ = exports(
    __name__,
    {
        "actions": "Actions Wrap",
        "loopback": "LoopbackServer serve_page",
    },
)
