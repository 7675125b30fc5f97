"""The closed grammar of the kinds of spec, as data: the loader checks against it, editors get a schema of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .grammar_capability import CAPABILITY
from .grammar_collection import COLLECTION
from .grammar_lens import LENS
from .grammar_provider import PROVIDER
from .grammar_tool import TOOL
from .grammar_toolset import TOOLSET
from .rules import Grammar

GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {
        "provider": PROVIDER,
        "capability": CAPABILITY,
        "tool": TOOL,
        "toolset": TOOLSET,
        "lens": LENS,
        "collection": COLLECTION,
    }
)
"""The grammar of each kind of spec, by the word before the slash in its first key."""
