"""The checked model: what the compiler makes of specs, ready to run. Only data; nothing here reads or sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from specloom.core import PageTemplate, Place, ViewTemplate, dataclass, field
from specloom.language import RecordType
from specloom.plugins import OBSERVERS, CollectionSpec, registered

from .heads import CapabilityHead, Heads, ObserverHead, OtherHead, ProviderHead, ToolHead
from .late_mappings import LazyMapping
from .provider import Argument, Capability, Operation, PageModel, Provider
from .resource import Resource
from .tool import Tool
from .toolset import Toolset
from .values import Setting


@dataclass(frozen=True, slots=True)
class Lens:
    """A field of trusted sites."""

    name: str
    title: str
    description: str
    place: Place
    domains: tuple[str, ...] = ()
    goggle: str = ""
    engine: str = ""
    notes: str = ""
    query: str = ""
    makes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionModel:
    """One collection of what a server remembers: what it is for, what is declared, and the variables that set it."""

    name: str
    title: str
    description: str
    place: Place
    spec: CollectionSpec
    settings: Mapping[str, Setting] = field(default_factory=dict)
    row: Mapping[str, Argument] = field(default_factory=dict)
    """What a value holds, by name; empty where only code reads and writes it."""
    shape: RecordType = field(default_factory=lambda: RecordType({}))


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that was compiled, by name; `digest` changes when any spec does."""

    providers: Mapping[str, Provider]
    capabilities: Mapping[str, Capability]
    tools: Mapping[str, Tool]
    lenses: Mapping[str, Lens]
    digest: str
    collections: Mapping[str, CollectionModel] = field(default_factory=dict)
    toolsets: Mapping[str, Toolset] = field(default_factory=dict)
    resources: Mapping[str, Resource] = field(default_factory=dict)
    """In the order in which they are listed."""
    templates: Mapping[str, PageTemplate] = field(default_factory=dict)
    views: Mapping[str, ViewTemplate] = field(default_factory=dict)
    given: Heads | None = field(default=None, repr=False, compare=False)
    """What is known of each before it is loaded, where they are loaded late."""
    listed: Callable[[str], dict[str, Any] | None] = field(default=lambda _: None, repr=False, compare=False)
    """How a tool is listed, where that was worked out before: a new value each time."""
    _heads: list[Heads] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def heads(self) -> Heads:
        """What is known of each spec, whether it was loaded or not."""
        if not self._heads:
            self._heads.append(make_heads(self) if self.given is None else self.given)
        return self._heads[0]

    def address_artifact(self, identifier: str) -> str:
        """The address under which a kept text is read; "" where no resource reads them."""
        found = next((one for one in self.resources.values() if one.source.kind == "artifact"), None)
        return "" if found is None else found.fill({found.source.name: identifier})

    def find_artifact(self, address: str) -> tuple[Resource, str] | None:
        """The resource that reads kept texts, and the identifier in an address of one; None for other addresses."""
        for one in self.resources.values():
            if one.source.kind == "artifact" and (holes := one.match(address)) is not None:
                return one, holes[one.source.name]
        return None

    @property
    def reader(self) -> Tool | None:
        """The tool that reads on in what others have cut; None where none does."""
        return next((self.tools[one.name] for one in self.heads.tools.values() if one.reads), None)

    @property
    def pages(self) -> list[PageModel]:
        """The pages of sites that providers read; of one provider in the order of its file."""
        reading = (one.name for one in self.heads.providers.values() if one.reads_pages)
        return [page for name in reading for page in self.providers[name].pages]

    def offering(self, capability: str) -> Mapping[str, Operation]:
        """Every operation of a capability, by provider, in the order of its routing and then by name."""
        names = self.heads.offering(capability)
        return LazyMapping(names, lambda name: self.providers[name].operations[capability])


def make_heads(model: Model) -> Heads:
    """The heads of a model whose specs are all there."""
    homes = registered()
    return Heads(
        MappingProxyType({one.name: head_of_provider(one) for one in model.providers.values()}),
        MappingProxyType({one.name: head_of_capability(one) for one in model.capabilities.values()}),
        MappingProxyType({one.name: head_of_tool(one) for one in model.tools.values()}),
        tuple(ObserverHead(one.name, one.settings, one.every) for one in OBSERVERS.values()),
        tuple(OtherHead(one.name, one.title, one.description) for one in model.lenses.values()),
        tuple(OtherHead(one.name, one.title, one.description) for one in model.collections.values()),
        tuple(OtherHead(one.name, one.title, one.description, one.uri) for one in model.resources.values()),
        homes,
    )


def head_of_provider(one: Provider) -> ProviderHead:
    """What is known of a provider before it is loaded."""
    return ProviderHead(
        one.name,
        one.title,
        one.settings,
        tuple(each.name for each in one.operations.values() if each.capability == each.name),
        tuple(one.operations),
        bool(one.pages),
        one.service.cost,
        {each.name: each.until for each in one.operations.values() if each.until is not None},
    )


def head_of_capability(one: Capability) -> CapabilityHead:
    """What is known of a capability before it is loaded."""
    return CapabilityHead(one.name, one.routing_key, one.order)


def head_of_tool(one: Tool) -> ToolHead:
    """What is known of a tool before it is loaded."""
    return ToolHead(
        one.name,
        one.title,
        one.description,
        one.place.file,
        one.toolsets,
        one.settings,
        one.capabilities,
        one.sources,
        one.opt_in,
        one.needs_provider,
        one.reads is not None,
        {
            each.name: each.catalogue.partition(".")[2]
            for each in one.inputs.values()
            if each.catalogue.startswith("providers.")
        },
        one.view.template if one.view is not None else "",
        one.shared_by,
    )
