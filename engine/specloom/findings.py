"""What was looked at and how it is: one line each, with the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .show import Paint, cut

State = Literal["ok", "missing", "warning", "broken"]

_TINTS = {"ok": "green", "missing": "dim", "warning": "yellow", "broken": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, and what to do when it is not well."""

    state: State
    about: str
    says: str
    remedy: str = ""

    def to_json(self) -> dict[str, str]:
        """The finding as data."""
        said = {"state": self.state, "about": self.about, "says": self.says}
        return {**said, "remedy": self.remedy} if self.remedy else said


def finding_lines(found: list[Finding], paint: Paint, width: int) -> list[str]:
    """The findings as a person reads them."""
    size = max((len(one.about) for one in found), default=0)
    lines = []
    for one in found:
        text = one.says + (f" — {one.remedy}" if one.remedy else "")
        shown = cut(text, max(40, width - size - 11) * 3)
        lines.append(f"{paint(f'{one.state:<7}', _TINTS[one.state])}  {one.about:<{size}}  {shown}")
    return lines
