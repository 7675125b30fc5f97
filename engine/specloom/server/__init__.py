"""MCP: protocol core, stdio host, the catalogue's image, resources, the SDK as a second host.

Imports `runtime`, `storage`, `model`, `specs` and `compiler`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .catalogue import CATALOGUES, OUTPUT_SCHEMAS, Selection, make_catalogue
    from .served import find_digest, load_heads, load_served, open_tables, version_line
    from .start import ServeOptions, default_selection, make_executor, make_presenter, read_switch, run

__getattr__ = exports(
    __name__,
    {
        "catalogue": "CATALOGUES OUTPUT_SCHEMAS Selection make_catalogue",
        "served": "find_digest load_heads load_served open_tables version_line",
        "start": "ServeOptions default_selection make_executor make_presenter read_switch run",
    },
)
