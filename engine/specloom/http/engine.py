"""The engine as each caller sees it: that of the server, or with what their tenant has set for itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from specloom.plugins import split_owner
from specloom.server import find_switched_off, list_settings, load_heads

from .identity import Tenants, load_tenants

if TYPE_CHECKING:
    from specloom.runtime import Executor
    from specloom.server import Backend, Backends

    from .gate import Caller

TENANTS = "SPECLOOM_TENANTS"
MOST_OWN = 256
"""Tenants with settings of their own whose view of the engine is remembered."""


def read_tenants(environ: Mapping[str, str]) -> Tenants:
    """What tenants have set for themselves; a VariableError for what is wrong in it."""
    path = environ.get(TENANTS, "").strip()
    return load_tenants(path, list_settings(load_heads(environ)[0])) if path else Tenants()


class TenantSwitches:
    """Which tools tenants have switched off for themselves: a switch of the server holds where they set none."""

    def __init__(self, tenants: Tenants, environ: Mapping[str, str]) -> None:
        """`tenants` have settings of their own, over those of the `environ`."""
        self._environ = environ
        self._off: dict[str, frozenset[str]] = {}
        self.renew(tenants)

    def renew(self, tenants: Tenants) -> None:
        """From now on tenants have set this for themselves."""
        heads = load_heads(self._environ)[0] if tenants.own else None
        off = {}
        if heads is not None:
            switches = {one.opt_in for one in heads.tools.values() if one.opt_in}
            for tenant, own in tenants.own.items():
                if not switches.isdisjoint(own):
                    off[tenant] = find_switched_off(heads, tenants.environ_of(tenant, self._environ))
        self._off = off

    def find_off(self, tenant: str) -> frozenset[str]:
        """The names of the tools that a tenant has not."""
        return self._off.get(tenant, frozenset())


class OwnerEngine:
    """The engine as each caller sees it."""

    def __init__(
        self,
        backends: Backends,
        tenants: Tenants | None = None,
        environ: Mapping[str, str] = MappingProxyType({}),
        warn: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`tenants` have settings of their own, over those of the `environ`."""
        self._backends = backends
        self._tenants = tenants or Tenants()
        self._environ = environ
        self._warn = warn
        self._own: OrderedDict[str, Backends] = OrderedDict()

    def make_backend(self, caller: Caller) -> Backend:
        """What answers a caller."""
        return self._of(split_owner(caller.owner)[0]).make(
            caller.owner, tools=caller.tools, is_operator=caller.is_operator, remembers=not caller.is_nobody
        )

    def renew(self, tenants: Tenants) -> None:
        """From now on tenants have set this for themselves."""
        self._tenants = tenants
        self._own.clear()

    def _of(self, tenant: str) -> Backends:
        if tenant not in self._tenants.own:
            return self._backends
        own = self._own.get(tenant)
        if own is None:
            own = self._own[tenant] = self._backends.under(self._tenants.environ_of(tenant, self._environ))
            for problem in own.executor.problems:
                self._warn(f"what a tenant has set for itself: {problem}")
            if len(self._own) > MOST_OWN:
                self._own.popitem(last=False)
        self._own.move_to_end(tenant)
        return own

    @property
    def executor(self) -> Executor:
        """What performs the calls."""
        return self._backends.executor

    async def aclose(self) -> None:
        """Close it."""
        await self._backends.aclose()
