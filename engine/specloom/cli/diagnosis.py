"""What a person wants of the doctor: the sum in one sentence, and then what to do, most urgent first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specloom.core import Paint, dataclass, own_words

from .common import LATER, error_line, make_executor
from .doctor import NO_NETWORK, Finding, examine, finding_lines, reach
from .exits import PROBLEMS
from .tool_states import ToolStates, VariableGain, find_tool_states

MOST_BETTER = 3
"""So many variables are named that open nothing and would be asked first."""
MOST_NAMED = 4
"""So many tools are named in a line; of more there is the count."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was found, and what it comes to."""

    states: ToolStates
    findings: Sequence[Finding]

    @property
    def code(self) -> int:
        """0 when something works and nothing is broken, 75 when only the network is not there, else 1."""
        broken = {one.about for one in self.findings if one.state == "broken"}
        if broken == {NO_NETWORK}:
            return LATER
        return PROBLEMS if broken or not self.states.working else 0

    def summary(self) -> str:
        """The state of everything in a sentence."""
        states, count = self.states, len(self.states.working)
        total = count + len(states.closed)
        parts = [f"{count or 'None'} of {total} tools work{'s' if count == 1 else ''}"]
        if count == total:
            parts = [f"All {total} tools work" if total != 1 else "The one tool works"]
        for gain in _choose_gains(states)[:1]:
            what = "one key" if gain.secret and len(gain.variables) == 1 else "one setting"
            more = "turns on" if len(gain.variables) == 1 else "turn on"
            if len(gain.variables) > 1:
                what = f"{len(gain.variables)} variables"
            parts.append(f"{what}, {' and '.join(gain.variables)}, {more} {len(gain.opens)}{' more' if count else ''}")
        parts += [f"the {one} is missing" for one in self._missing_programs()]
        broken = [one.about for one in self.findings if one.state == "broken"]
        if broken == [NO_NETWORK]:
            parts.append("there is no network")
        elif broken:
            parts.append(f"{len(broken)} {'thing is' if len(broken) == 1 else 'things are'} broken")
        return "; ".join(parts) + "."

    def steps(self) -> Iterator[str]:
        """What to do, most urgent first."""
        for state in ("broken", "warning"):
            for one in self.findings:
                if one.state == state and not one.about.startswith("tool "):
                    yield f"{one.about}: {one.says}" + (f" — {one.remedy}" if one.remedy else "")
        for gain in _choose_gains(self.states):
            yield f"set {' and '.join(gain.variables)} for {_name(gain.opens)}: {gain.says}"
        for one in self.findings:
            if one.about in self._missing_programs():
                yield f"{one.about}: {one.says}"

    def lines(self, paint: Paint, width: int, *, details: bool) -> list[str]:
        """The diagnosis as a person reads it: the sum, what to do, what could be better; and all findings if asked."""
        lines = [paint(self.summary(), "bold")]
        steps = list(self.steps())
        if steps:
            lines += ["", "What to do:", *_wrapped(steps, width)]
        better = list(self._better())
        if better:
            lines += ["", "What could be better:", *_wrapped(better, width)]
        if details:
            return [*lines, "", *finding_lines(list(self.findings), paint, width)]
        asked = any(one.about == NO_NETWORK or one.about.startswith("reach ") for one in self.findings)
        reach = "" if asked else "; `--reach` tries whether providers can be reached"
        rest = own_words(f"`specloom doctor --details` shows every provider, tool and place{reach}.")
        return [*lines, "", *_wrapped([rest], width, mark="")]

    def to_json(self) -> dict[str, Any]:
        """The diagnosis as data."""
        states = self.states
        return {
            "summary": self.summary(),
            "tools": {
                "working": list(states.working),
                "closed": list(states.closed),
                "switchedOff": dict(states.switched_off),
            },
            "steps": list(self.steps()),
            "better": list(self._better()),
            "examined": [one.to_json() for one in self.findings],
        }

    def _better(self) -> Iterator[str]:
        chosen = _choose_gains(self.states)
        others = [one for one in self.states.gains if one.leads and not one.opens and len(one.variables) == 1]
        for gain in [one for one in others if one not in chosen][:MOST_BETTER]:
            searches = "one kind of search" if gain.leads == 1 else f"{gain.leads} kinds of search"
            yield f"with {gain.variables[0]} its provider is asked first for {searches}: {gain.says}"
        switches: dict[str, list[str]] = {}
        for tool, switch in self.states.switched_off.items():
            switches.setdefault(switch, []).append(tool)
        for switch, tools in switches.items():
            yield f"{switch}=true switches on {_name(tools)}"

    def _missing_programs(self) -> list[str]:
        from specloom.plugins import PROGRAMS

        return [one.about for one in self.findings if one.about in PROGRAMS and one.state == "missing"]


def diagnose(environ: Mapping[str, str], *, reaches: bool) -> Diagnosis:
    """Look at everything here; with `reaches` a connection to each configured provider is tried as well."""
    import asyncio
    from pathlib import Path

    from specloom.core import cache_folder
    from specloom.server import Selection, default_selection, read_switch

    executor, errors = make_executor(environ)
    findings = examine(executor, [error_line(one) for one in errors], environ, Path(cache_folder(environ)))
    if reaches:
        findings += asyncio.run(reach(executor, allow_private=read_switch(environ, "SPECLOOM_ALLOW_PRIVATE", [])))
    try:
        states = find_tool_states(executor.model, default_selection(environ), environ)
    except ValueError as error:
        findings.insert(
            0, Finding("broken", "toolsets", str(error), "mend SPECLOOM_TOOLSETS; no server starts with it")
        )
        states = find_tool_states(executor.model, Selection(["all"]), environ)
    return Diagnosis(states, findings)


def _choose_gains(states: ToolStates) -> list[VariableGain]:
    """What to set for all that can be opened, the fewest first that open most."""
    chosen: list[VariableGain] = []
    left = set(states.closed)
    while gains := [one for one in states.gains if left & set(one.opens)]:
        best = max(gains, key=lambda one: (len(left & set(one.opens)), one.leads, -len(one.variables)))
        chosen.append(best)
        left -= set(best.opens)
    return chosen


def _name(tools: Sequence[str]) -> str:
    return (
        ", ".join(tools)
        if len(tools) <= MOST_NAMED
        else f"{', '.join(tools[:MOST_NAMED])} and {len(tools) - MOST_NAMED} more"
    )


def _wrapped(items: Sequence[str], width: int, mark: str = "  - ") -> list[str]:
    """Each item in lines of a width, the first after a mark."""
    import textwrap

    return [
        line
        for item in items
        for line in textwrap.wrap(
            item,
            width,
            initial_indent=mark,
            subsequent_indent=" " * len(mark),
            break_on_hyphens=False,
            break_long_words=False,
        )
    ]
