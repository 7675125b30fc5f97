"""The closed grammar of the four kinds of spec, as data: the loader checks against it, editors get a schema of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .grammar_capability import CAPABILITY
from .grammar_lens import LENS
from .grammar_provider import PROVIDER
from .grammar_tool import TOOL
from .rules import Grammar

GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {"provider": PROVIDER, "capability": CAPABILITY, "tool": TOOL, "lens": LENS}
)
"""The grammar of each kind of spec, by the word before the slash in its first key."""
