"""Which tools a caller may use by the scopes of its credential, and what it is asked for where those do not suffice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from specloom.core import dataclass

from .identity import OPERATOR, Identity, Refusal, is_scope

RESEARCH = "research"
"""The scope of every tool."""
EVERY_TOOL = "tool:*"
_ONE_TOOL = "tool:"


@dataclass(frozen=True, slots=True)
class ScopePolicy:
    """What credentials have to carry: nothing unless `enforced`, else a scope of the tool and all that are `required`.

    `optional` lets in credentials that do not speak of scopes at all.
    """

    enforced: bool = False
    required: tuple[str, ...] = ()
    optional: bool = False

    @property
    def supported(self) -> tuple[str, ...]:
        """What the metadata lists. Nothing where nothing is needed: clients ask for all that is listed, and an
        authorization server refuses what it does not know."""
        return tuple(dict.fromkeys((RESEARCH, EVERY_TOOL, *self.required))) if self.enforced else ()

    @property
    def initial(self) -> tuple[str, ...]:
        """What a client without a token is told to ask for; nothing where nothing is needed."""
        return tuple(dict.fromkeys((*self.required, RESEARCH))) if self.enforced else ()

    def allows(self, identity: Identity, tool: str) -> bool:
        """Whether a caller may use a tool."""
        return self._admits(identity) and (
            self._is_free(identity) or not {RESEARCH, EVERY_TOOL, _ONE_TOOL + tool}.isdisjoint(identity.scopes)
        )

    def visible(self, identity: Identity, tools: Iterable[str]) -> tuple[str, ...]:
        """The tools that a list shows to a caller, in their order."""
        return tuple(tool for tool in tools if self.allows(identity, tool))

    @property
    def cache_scope(self) -> Literal["public", "private"]:
        """The `cacheScope` of lists: private where they depend on who asks."""
        return "private" if self.enforced else "public"

    def check_tool(self, identity: Identity, tool: str) -> None:
        """Nothing where the caller may use the tool, else a Refusal with every scope that this needs."""
        if not self.allows(identity, tool):
            raise self._refuse(identity, self._wanted(identity, tool))

    def check_operator(self, identity: Identity) -> None:
        """Nothing for an operator, else a Refusal. It is asked for whether or not scopes of tools are enforced."""
        if not identity.is_operator:
            raise self._refuse(identity, OPERATOR)

    def _admits(self, identity: Identity) -> bool:
        return self._is_free(identity) or identity.scopes.issuperset(self.required)

    def _is_free(self, identity: Identity) -> bool:
        return not self.enforced or (self.optional and not identity.scoped)

    def _wanted(self, identity: Identity, tool: str) -> str:
        """The scope to ask for. Who has scopes of single tools comes from a server that knows such scopes."""
        single = _ONE_TOOL + tool
        speaks_of_tools = any(scope.startswith(_ONE_TOOL) for scope in identity.scopes)
        return single if speaks_of_tools and is_scope(single) else RESEARCH

    def _refuse(self, identity: Identity, scope: str) -> Refusal:
        needed = tuple(dict.fromkeys((*self.required, scope)))
        # Who has shown nothing is asked to sign in, which is where clients begin.
        return Refusal("no_credential" if identity.is_anonymous else "insufficient_scope", scopes=needed)
