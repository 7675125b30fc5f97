"""The closed grammar of the kinds of spec, as data: the loader checks against it, editors get a schema of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .declarations import CAPABILITY, COLLECTION, LENS, TOOLSET
from .provider import PROVIDER
from .resource import RESOURCE
from .rules import Grammar
from .tool import TOOL

GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {
        "provider": PROVIDER,
        "capability": CAPABILITY,
        "tool": TOOL,
        "toolset": TOOLSET,
        "lens": LENS,
        "collection": COLLECTION,
        "resource": RESOURCE,
    }
)
"""The grammar of each kind of spec, by the word before the slash in its first key."""
