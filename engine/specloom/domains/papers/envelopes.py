"""The envelopes of the toolset: how a fault is told as an answer. They differ only in what becomes of `ref`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.plugins import envelope

from .procedures import FAILURE

if TYPE_CHECKING:
    from specloom.core import Fault


@envelope("paper", gives=FAILURE)
def tell_paper(fault: Fault, given: Mapping[str, Any]) -> dict[str, Any]:
    """`{ok: false, ref, error}`; `ref` is null when none was given."""
    return _told(fault, given, "always")


@envelope("paper_fetch", gives=FAILURE)
def tell_fetch(fault: Fault, given: Mapping[str, Any]) -> dict[str, Any]:
    """`{ok: false, ref, error}`; `ref` is left out when none was given."""
    return _told(fault, given, "given")


@envelope("papers", gives={key: FAILURE[key] for key in ("ok", "error")})
def tell_papers(fault: Fault, given: Mapping[str, Any]) -> dict[str, Any]:
    """`{ok: false, error}`, for calls that are about no single paper."""
    return _told(fault, given, "never")


def _told(fault: Fault, given: Mapping[str, Any], echo: str) -> dict[str, Any]:
    from .errors import from_fault
    from .tools import told

    return told(from_fault(fault), given, echo=echo)
