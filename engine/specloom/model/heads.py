"""What a start needs of every spec, whichever of them are called: names, settings, and who offers what."""

from __future__ import annotations

from specloom.core import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .values import Setting


@dataclass(frozen=True, slots=True)
class ProviderHead:
    """One provider: what has to be set for it, and the capabilities that it offers."""

    name: str
    title: str
    settings: Mapping[str, Setting]
    offers: tuple[str, ...]
    operations: tuple[str, ...]
    """All of its operations, in the order of its file; those which are no capability's own serve its pages."""
    reads_pages: bool = False
    cost: float = 0.0
    """What a request costs, in dollars, where its operator does not say otherwise."""
    ends: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    """The operations that leave the routes nobody has written: when, in seconds since the epoch, and why."""


@dataclass(frozen=True, slots=True)
class CapabilityHead:
    """One capability: under which key it is routed, and in which order its providers are asked."""

    name: str
    routing_key: str
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolHead:
    """One tool: what lists say of it, what has to be set for it, and whom it asks."""

    name: str
    title: str
    description: str
    file: str
    toolsets: tuple[str, ...]
    settings: Mapping[str, Setting]
    capabilities: tuple[str, ...]
    sources: tuple[str, ...]
    opt_in: str = ""
    needs_provider: bool = False
    reads: bool = False
    """It reads on what others have cut."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Its inputs that name a provider, and of which capability."""
    view: str = ""
    """The template of the view of its answer; "" where it has none."""
    shared_by: str = ""
    """The variable by which an operator says that all tenants share what it reaches; "" where that has owners."""


@dataclass(frozen=True, slots=True)
class ObserverHead:
    """One observer of calls: its settings as they are declared, and the one that lets it look at every call."""

    name: str
    settings: Mapping[str, Mapping[str, Any]]
    every: str = ""


@dataclass(frozen=True, slots=True)
class OtherHead:
    """What lists say of a lens, a collection or a resource."""

    name: str
    title: str
    description: str
    uri: str = ""


@dataclass(frozen=True, slots=True)
class Heads:
    """What is known of every spec of a model before any is loaded, by name."""

    providers: Mapping[str, ProviderHead]
    capabilities: Mapping[str, CapabilityHead]
    tools: Mapping[str, ToolHead]
    observers: tuple[ObserverHead, ...] = ()
    lenses: tuple[OtherHead, ...] = ()
    collections: tuple[OtherHead, ...] = ()
    resources: tuple[OtherHead, ...] = ()
    registered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The modules of what hand-written code registers, by kind and name; see `plugins.registered`."""
    prompts: tuple[Mapping[str, Any], ...] | None = None
    """The entries of `prompts/list`; None where nobody has read them yet."""
    _offered: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def offering(self, capability: str) -> tuple[str, ...]:
        """Who offers a capability, in the order of its routing and then by name."""
        if not self._offered:
            found: dict[str, list[str]] = {}
            for one in self.providers.values():
                for name in one.offers:
                    found.setdefault(name, []).append(one.name)
            self._offered.update({name: self._ranked(name, offered) for name, offered in found.items()})
        return self._offered.get(capability, ())

    def _ranked(self, capability: str, offered: list[str]) -> tuple[str, ...]:
        order = self.capabilities[capability].order if capability in self.capabilities else ()
        ranks = {name: rank for rank, name in enumerate(order)}
        return tuple(sorted(offered, key=lambda name: (ranks.get(name, len(ranks)), name)))
