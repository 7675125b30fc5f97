"""What an operator is told at the start of what has no owner: which tools go without it, and whom it is open to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from specloom.core import to_plain
from specloom.server import Selection, select

from .identity import NOBODY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from specloom.model import Model

    from .identity import IdentitySettings

MOST_NAMED = 3
"""Tools that a sentence names."""


def describe_sharing(
    model: Model,
    selection: Selection,
    environ: Mapping[str, str],
    identities: IdentitySettings | None,
    *,
    always_configured: bool = False,
) -> Iterator[str]:
    """A sentence for what the selection leaves out because it has no owner, and one where strangers may write to that.

    Nothing for a server without `identities`, whose callers are one person. A ValueError says that the selection names
    what there is not.
    """
    if identities is None:
        return
    served = select(model, selection, environ, always_configured=always_configured)
    alone = Selection(selection.toolsets, selection.tools, selection.exclude, catalogue=selection.catalogue)
    left = [one for one in select(model, alone, environ, always_configured=always_configured) if one not in served]
    for switches, names in _group_by_switches(model, left):
        yield (
            f"{_name_toolsets(model, names)} are left out, because what they reach has no owner; "
            f"set {' and '.join(f'{one}=true' for one in switches)} to let all tenants share it"
        )
    if identities.anonymous:
        yield from _describe_strangers(model, identities.scopes.visible(NOBODY, served))


def _describe_strangers(model: Model, served: Iterable[str]) -> Iterator[str]:
    shared = [one for one in served if _find_switches(model, one)]
    writing = [one for one in shared if not model.tools[one].annotations["read_only"]]
    if not writing:
        return
    # Those that are opt-in come first: somebody has switched them on.
    writing.sort(key=lambda one: not model.heads.tools[one].opt_in)
    named = ", ".join(writing[:MOST_NAMED])
    more = f" and {len(writing) - MOST_NAMED} more" if len(writing) > MOST_NAMED else ""
    switches = dict.fromkeys(
        switch for one in writing for switch in (*_find_switches(model, one), model.heads.tools[one].opt_in) if switch
    )
    yield (
        f"callers who do not say who they are may change what all tenants share ({named}{more}), "
        f"because of ALLOW_ANONYMOUS_HTTP with {' and '.join(switches)}; "
        "set one of them to false, unless a proxy in front checks who calls"
    )


def _find_switches(model: Model, name: str) -> tuple[str, ...]:
    """The variables by which an operator says that tenants share what a tool reaches; none where that has owners."""
    tool = model.heads.tools[name]
    of_toolsets = (model.toolsets[one].shared_by for one in tool.toolsets if one in model.toolsets)
    return tuple(dict.fromkeys(one for one in (tool.shared_by, *of_toolsets) if one))


def _group_by_switches(model: Model, names: Iterable[str]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        groups.setdefault(_find_switches(model, name), []).append(name)
    yield from groups.items()


def _name_toolsets(model: Model, names: Collection[str]) -> str:
    """The toolsets of these tools, and how many of each toolset's they are."""
    counts = Counter(toolset for one in names for toolset in model.heads.tools[one].toolsets)
    whole = Counter(toolset for tool in model.heads.tools.values() for toolset in tool.toolsets)
    shown = [f"{to_plain(one)} ({count} of {whole[one]})" for one, count in sorted(counts.items())]
    listed = " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
    return f"tools of the {'toolsets' if len(shown) > 1 else 'toolset'} {listed}"
