"""Which tools a host is given here, which of them anybody answers, and what would open the others."""

from __future__ import annotations

from collections.abc import Mapping

from specloom.core import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from specloom.model import ListedModel, Model, ProviderHead, ToolHead
    from specloom.server import Selection

_SAMPLES = {"url": "https://host.invalid", "credentials": "user:password", "headers": "Name: value", "rate": "1/s"}


@dataclass(frozen=True, slots=True)
class VariableGain:
    """What is opened by variables that are not set yet, all of which some provider needs."""

    variables: tuple[str, ...]
    says: str
    """Where they are to be had, as the file of the provider has it."""
    secret: bool
    opens: tuple[str, ...]
    """The tools that work with them and do not without."""
    leads: int
    """For how many searches whom they configure would be asked first."""


@dataclass(frozen=True, slots=True)
class ToolStates:
    """The tools of a selection by how they are here."""

    working: tuple[str, ...]
    closed: tuple[str, ...]
    """Those that nobody can answer, listed or not."""
    switched_off: Mapping[str, str]
    """Those that wait for a switch, with the variable."""
    gains: tuple[VariableGain, ...]
    """What could be set, what opens most first."""


def find_tool_states(model: Model | ListedModel, selection: Selection, environ: Mapping[str, str]) -> ToolStates:
    """How the selected tools are in an environment; ValueError where the selection names what does not exist."""
    from specloom.server import select

    heads = model.heads
    chosen = select(model, selection)
    working, _ = _find_working(model, selection, environ)
    listed = select(model, selection, environ)
    off = {
        name: heads.tools[name].opt_in
        for name in chosen
        if name not in listed and is_switched_off(heads.tools[name], environ)
    }
    closed = tuple(name for name in chosen if name not in working and name not in off)
    needs: dict[tuple[str, ...], list[ProviderHead]] = {}
    for provider in heads.providers.values():
        if variables := _missing(provider, environ):
            needs.setdefault(variables, []).append(provider)
    gains = []
    for variables, providers in needs.items():
        settings = [providers[0].settings[name] for name in variables]
        sample = {one.name: _SAMPLES.get(one.kind, "1") for one in settings}
        then, first = _find_working(model, selection, {**environ, **sample})
        names = {one.name for one in providers}
        gains.append(
            VariableGain(
                variables,
                " ".join(" ".join(one.description.split()) for one in settings),
                any(one.secret for one in settings),
                tuple(name for name in chosen if name in then and name not in working),
                sum(one in names for one in first.values()),
            )
        )
    gains.sort(key=lambda one: (-len(one.opens), -one.leads, len(one.variables)))
    return ToolStates(tuple(name for name in chosen if name in working), closed, off, tuple(gains))


def _find_working(
    model: Model | ListedModel, selection: Selection, environ: Mapping[str, str]
) -> tuple[frozenset[str], dict[str, str]]:
    """The tools that somebody answers in an environment, and who is asked first for each capability."""
    from specloom.runtime import RoutingError, configure, plan_routes
    from specloom.server import select

    configured = configure(model.heads.providers.values(), environ).names
    try:
        orders = plan_routes(model, configured, environ).orders
    except RoutingError:
        orders = plan_routes(model, configured, {}).orders
    tools = model.heads.tools
    working = frozenset(
        name
        for name in select(model, selection, environ)
        if not tools[name].sources or any(orders.get(source) for source in tools[name].sources)
    )
    return working, {name: order[0] for name, order in orders.items() if order}


def is_switched_off(tool: ToolHead, environ: Mapping[str, str]) -> bool:
    """Whether a tool waits for a switch that is off."""
    from specloom.runtime import read_settings

    if not tool.opt_in:
        return False
    return not read_settings({tool.opt_in: tool.settings[tool.opt_in]}, environ)[0][tool.opt_in]


def _missing(provider: ProviderHead, environ: Mapping[str, str]) -> tuple[str, ...]:
    from specloom.runtime import read_settings

    values = read_settings(provider.settings, environ)[0]
    return tuple(one.name for one in provider.settings.values() if one.required and values.get(one.name) is None)


def known_variables(environ: Mapping[str, str]) -> dict[str, bool]:
    """Every variable that the engine or a spec reads, and whether it is a secret."""
    from specloom.core import VARIABLES
    from specloom.server import list_settings, load_heads

    settings = list_settings(load_heads(environ)[0])
    return {name: one.secret for known in (VARIABLES, settings) for name, one in known.items()}
