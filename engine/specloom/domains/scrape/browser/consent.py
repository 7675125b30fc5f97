"""Consent walls: refused where that can be done, accepted where it cannot, in the page, its shadow roots and frames.

A button is known by the name that a framework gives it, or by what is written on it: both are in `consent.yaml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specloom.core import Fault, load_table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


MOST_FRAMES: Final = 10
"""Frames of a page that are looked into."""
CONSENT: Final = Path(__file__).with_name("consent.js").read_text(encoding="utf-8")
_WALLS: Final[dict[str, Any]] = load_table(__file__, "consent.yaml")


def _to_pattern(labels: list[str]) -> str:
    text = "|".join("".join(label.splitlines()) for label in labels)
    return f"^(?:{text.replace('<all>', _WALLS['all']).replace('<cookies>', _WALLS['cookies'])})$"


LABELS: Final = tuple(_to_pattern(_WALLS[kind]) for kind in ("refuse", "save", "accept", "noted"))
"""What is written on buttons, best first."""
ABOUT: Final = "|".join(_WALLS["about"])
"""What a wall speaks of."""
REFUSING: Final = ",".join(_WALLS["refusing"])
ACCEPTING: Final = ",".join(_WALLS["accepting"])

_ARGUMENTS: Final = (REFUSING, ACCEPTING, LABELS, ABOUT)


async def answer_consent(page: Any, run: Callable[..., Awaitable[Any]], silent: set[Any]) -> bool:
    """Whether a button of a consent wall was pressed, in the page itself or in one of its frames.

    `run` runs a script in a frame with an argument and gives what it returns, or nothing where it cannot be run. A
    frame that does not answer is a fault of it: it is put into `silent`, not asked again, and its page is not given up.
    """
    if await run(page, CONSENT, [*_ARGUMENTS, False]):
        return True
    frames = [frame for frame in page.frames if frame != page.main_frame and frame not in silent]
    for frame in frames[:MOST_FRAMES]:
        try:
            if await run(frame, CONSENT, [*_ARGUMENTS, True]):
                return True
        except Fault:
            silent.add(frame)
            return False
    return False
