"""Checked trees become the model: names resolved, expressions typed, promises proved.

Imports `specs`, `model`, `language` and `plugins`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .answer import compile_toolset
    from .build import check_order, digest_sources, weave, weave_from, weave_served
    from .capability import compile_capability, compile_lens, site_queries
    from .collection import check_needs, check_use, compile_collection, keepers, load_collections
    from .codegen import compile_code, generate
    from .image import make_image, remake_image
    from .pages import compile_pages
    from .prompts import check_prompt, check_prompts
    from .provider import check_tables, compile_provider
    from .published_schemas import brief_schema, lean_schema
    from .resource import check_addresses, compile_resource
    from .symbols import Symbols, symbols_of
    from .tool import compile_tool
    from .values import find_unused_values

__getattr__ = exports(
    __name__,
    {
        "answer": "compile_toolset",
        "build": "check_order digest_sources weave weave_from weave_served",
        "capability": "compile_capability compile_lens site_queries",
        "collection": "check_needs check_use compile_collection keepers load_collections",
        "codegen": "compile_code generate",
        "image": "make_image remake_image",
        "pages": "compile_pages",
        "prompts": "check_prompt check_prompts",
        "provider": "check_tables compile_provider",
        "published_schemas": "brief_schema lean_schema",
        "resource": "check_addresses compile_resource",
        "symbols": "Symbols symbols_of",
        "tool": "compile_tool",
        "values": "find_unused_values",
    },
)
