"""Who may come in and what they may do: everybody, where only this machine can call, or whom a credential names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Protocol

from specloom.core import dataclass
from specloom.server import CALL_TOOL, FIND_TOOL

from .headers import Headers, HttpRefusal
from .identity import Identity, Refusal, make_challenge

if TYPE_CHECKING:
    from .identity import Authenticator

UNSEARCHED = frozenset({FIND_TOOL, CALL_TOOL})
"""Tools about tools: they know only those that a caller may use."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: whose data this is, what they see of the server, and which tools they may use."""

    owner: str
    is_operator: bool = False
    identity: Identity | None = None
    tools: frozenset[str] | None = None
    """The names of the tools that they may use; None for all."""

    @property
    def is_nobody(self) -> bool:
        """Whether they did not say who they are, so that they cannot be told from others who did not."""
        return self.identity is not None and self.identity.is_anonymous

    @property
    def key(self) -> tuple[str, bool, frozenset[str] | None]:
        """What two callers share for whom the engine is the same."""
        return self.owner, self.is_operator, self.tools


class Gate(Protocol):
    """Who may come in, and what they may do."""

    @property
    def is_ready(self) -> bool:
        """Whether it can be found out who asks."""

    async def admit(self, headers: Headers, query: bytes) -> Caller:
        """Who asks; raises HttpRefusal for whoever is not let in."""

    def check(self, caller: Caller, message: dict[str, Any]) -> None:
        """Nothing where a caller may ask for this, else an HttpRefusal that says what they need."""


class OpenGate:
    """Everybody who can reach the server is one owner: whose machine it is."""

    def __init__(self, owner: str) -> None:
        self._caller = Caller(owner, is_operator=True)

    @property
    def is_ready(self) -> bool:
        return True

    async def admit(self, headers: Headers, query: bytes) -> Caller:  # noqa: ARG002
        return self._caller

    def check(self, caller: Caller, message: dict[str, Any]) -> None:
        """Everything is allowed."""


class IdentityGate:
    """Callers are who their token or their API key says."""

    def __init__(
        self,
        authenticator: Authenticator,
        tools: Collection[str],
        *,
        find_off: Callable[[str], frozenset[str]] = lambda _: frozenset(),
    ) -> None:
        """`find_off` tells the tools that a tenant has switched off for itself: for its callers there are none such."""
        self._authenticator = authenticator
        self._find_off = find_off
        self._tools = frozenset(tools)
        metadata = authenticator.metadata
        self._metadata_url = metadata.url if metadata is not None else ""
        self.refusals: Counter[str] = Counter()
        """Refusals by their reason."""

    @property
    def is_ready(self) -> bool:
        return self._authenticator.ready

    async def admit(self, headers: Headers, query: bytes) -> Caller:
        shown = [value for name, value in headers if name == b"authorization"]
        keys = [value for name, value in headers if name == b"x-api-key"]
        try:
            identity = await self._authenticator.identify(shown, query, api_key=keys)
        except Refusal as refusal:
            raise self._to_answer(refusal) from None
        policy = self._authenticator.scopes
        tools = None
        if policy.enforced:
            allowed = frozenset(policy.visible(identity, self._tools - UNSEARCHED))
            tools = allowed | (UNSEARCHED & self._tools) if allowed else allowed
        if off := self._find_off(identity.tenant):
            tools = (self._tools if tools is None else tools) - off
        return Caller(identity.owner, identity.is_operator, identity, tools)

    def check(self, caller: Caller, message: dict[str, Any]) -> None:
        params = message.get("params")
        name = params.get("name") if message.get("method") == "tools/call" and isinstance(params, dict) else None
        known = self._tools - self._find_off(caller.identity.tenant) if caller.identity is not None else self._tools
        if caller.identity is None or caller.tools is None or name in caller.tools or name not in known:
            return  # the protocol itself says what there is not
        try:
            self._authenticator.scopes.check_tool(caller.identity, str(name))
        except Refusal as refusal:
            raise self._to_answer(refusal) from None

    def _to_answer(self, refusal: Refusal) -> HttpRefusal:
        self.refusals[refusal.reason] += 1
        headers = []
        if (challenge := make_challenge(refusal, self._metadata_url)) is not None:
            headers.append((b"www-authenticate", challenge.encode("latin-1")))
        if refusal.retry_after:
            headers.append((b"retry-after", b"%d" % refusal.retry_after))
        return HttpRefusal(refusal.status, headers=headers, is_failed_attempt=refusal.is_failed_attempt)
