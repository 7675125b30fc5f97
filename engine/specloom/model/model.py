"""The checked model: what the compiler makes of specs, ready to run. Only data; nothing here reads or sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specloom.core import PageTemplate, Place
from specloom.language import RecordType
from specloom.plugins import CollectionSpec

from .provider import Argument, Capability, Operation, PageModel, Provider
from .resource import Resource
from .tool import Tool
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
class Toolset:
    """What a client is told at the start about the tools of one folder; `{tool}` in a paragraph names one of them.

    `prompts` are listed only where one of these tools is served.
    """

    name: str
    instructions: tuple[str, ...]
    place: Place
    prompts: tuple[str, ...] = ()


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
    _offered: dict[str, Mapping[str, Operation]] = field(default_factory=dict, init=False, repr=False, compare=False)

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
        return next((tool for tool in self.tools.values() if tool.reads is not None), None)

    @property
    def pages(self) -> list[PageModel]:
        """The pages of sites that providers read; of one provider in the order of its file."""
        return [page for provider in self.providers.values() for page in provider.pages]

    def offering(self, capability: str) -> Mapping[str, Operation]:
        """Every operation of a capability, by provider, in the order of its routing and then by name."""
        if not self._offered:
            self._offered.update(self._find_offered())
        return self._offered.get(capability, {})

    def _find_offered(self) -> dict[str, Mapping[str, Operation]]:
        found: dict[str, dict[str, Operation]] = {}
        for provider in self.providers.values():
            for operation in provider.operations.values():
                if operation.capability == operation.name:
                    found.setdefault(operation.name, {})[provider.name] = operation
        return {name: self._ranked(name, offered) for name, offered in found.items()}

    def _ranked(self, capability: str, offered: Mapping[str, Operation]) -> dict[str, Operation]:
        order = self.capabilities[capability].order if capability in self.capabilities else ()
        ranks = {name: rank for rank, name in enumerate(order)}
        return {name: offered[name] for name in sorted(offered, key=lambda name: (ranks.get(name, len(ranks)), name))}
