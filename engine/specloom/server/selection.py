"""Which tools are served: what was selected, less what does not exist for the clients of an environment."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specloom.model import Model, Provider, Tool


DEFAULT_TOOLSETS = ("research",)
OUTPUT_SCHEMAS = ("full", "brief", "none")
"""How much of the schemas of answers is listed: every key, those at the top, or nothing."""


class Selection:
    """Which tools are served: whole toolsets and single tools, less those that are left out; and how they are listed.

    `output_schemas` is one of `OUTPUT_SCHEMAS`.
    """

    __slots__ = ("exclude", "output_schemas", "tools", "toolsets")

    def __init__(
        self,
        toolsets: Iterable[str] = (),
        tools: Iterable[str] = (),
        exclude: Iterable[str] = (),
        *,
        output_schemas: str = OUTPUT_SCHEMAS[0],
    ) -> None:
        self.toolsets = tuple(sorted(set(toolsets)))
        self.tools = tuple(sorted(set(tools)))
        self.exclude = tuple(sorted(set(exclude)))
        self.output_schemas = output_schemas

    def key(self) -> str:
        """The selection as text, for the fingerprint and the file's name."""
        return f"{','.join(self.toolsets)};{','.join(self.tools)};{','.join(self.exclude)};{self.output_schemas}"


class Conditions:
    """Variables that decide which tools exist: `switches` by their value, `given` by whether they have one.

    Those in `given` may be secrets, so an image holds no more of them than that they are there.
    """

    __slots__ = ("given", "switches")

    def __init__(self, switches: Iterable[str] = (), given: Iterable[str] = ()) -> None:
        self.switches = tuple(switches)
        self.given = tuple(given)

    def read(self, environ: Mapping[str, str]) -> dict[str, str | bool]:
        """What an environment says about them."""
        said: dict[str, str | bool] = {name: environ.get(name, "").strip() for name in self.switches}
        return said | {name: bool(environ.get(name, "").strip()) for name in self.given if name not in said}


def select(
    model: Model,
    selection: Selection,
    environ: Mapping[str, str] | None = None,
    *,
    always_configured: bool = False,
) -> list[str]:
    """The names of the selected tools, in the order in which they are listed; ValueError names what does not exist.

    With an environment, tools that do not exist for its clients are left out: those whose switch is off there, and
    those that need a provider where none is configured, unless all count as configured, as in a replay.
    """
    from specloom.core import did_you_mean

    known = {toolset for tool in model.tools.values() for toolset in tool.toolsets} | {"all"}
    for name in selection.toolsets:
        if name not in known:
            raise ValueError(f"there is no toolset {name!r}; {did_you_mean(name, known)}".rstrip("; "))
    for name in (*selection.tools, *selection.exclude):
        if name not in model.tools:
            raise ValueError(f"there is no tool {name!r}; {did_you_mean(name, model.tools)}".rstrip("; "))
    wanted = selection.toolsets or (() if selection.tools else DEFAULT_TOOLSETS)
    off = {}
    if environ is not None:
        off = {tool.name: _why_off(model, tool, environ, always_configured) for tool in model.tools.values()}
    for name in selection.tools:
        if off.get(name):
            raise ValueError(f"the tool {name!r} is off; {off[name]}")
    chosen = [
        tool
        for tool in model.tools.values()
        if not off.get(tool.name)
        and ("all" in wanted or set(wanted) & set(tool.toolsets) or tool.name in selection.tools)
        and tool.name not in selection.exclude
    ]
    return [tool.name for tool in sorted(chosen, key=lambda tool: ("core" not in tool.toolsets, tool.name))]


def _why_off(model: Model, tool: Tool, environ: Mapping[str, str], always_configured: bool) -> str:
    """What to do for a tool to exist for clients; "" if it does. A switch that cannot be read is off."""
    from specloom.runtime import is_configured, missing_settings, read_settings

    if tool.opt_in and not read_settings({tool.opt_in: tool.settings[tool.opt_in]}, environ)[0][tool.opt_in]:
        return f"set {tool.opt_in}=true"
    if not tool.needs_provider or always_configured:
        return ""
    needed = []
    for provider in _providers(model, tool):
        values = read_settings(provider.settings, environ)[0]
        if is_configured(provider, values):
            return ""
        needed.append(" and ".join(missing_settings(provider, values)))
    return f"set {' or '.join(dict.fromkeys(needed))}" if needed else "no provider offers what it asks"


def _providers(model: Model, tool: Tool) -> list[Provider]:
    """Who can answer for a tool, each once."""
    names = dict.fromkeys(name for source in tool.sources for name in model.offering(source))
    return [model.providers[name] for name in names]


def conditions(model: Model) -> Conditions:
    """The variables on which it depends which tools exist."""
    tools = model.tools.values()
    needed = {
        name
        for tool in tools
        if tool.needs_provider
        for provider in _providers(model, tool)
        for one in provider.settings.values()
        if one.required
        for name in (one.name, one.stand_in)
        if name
    }
    return Conditions(sorted({tool.opt_in for tool in tools if tool.opt_in}), sorted(needed))
