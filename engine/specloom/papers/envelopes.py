"""The envelopes of the toolset: how a fault is told as an answer. They differ only in what becomes of `ref`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import envelope

from .declared import FAILURE

if TYPE_CHECKING:
    from specloom.faults import Fault


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
    from .codes import from_fault
    from .working import told

    return told(from_fault(fault), given, echo=echo)
