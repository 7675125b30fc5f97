"""Why a call cannot be answered, in words that programs branch on: closed codes, what to do next, and what was refused.

The sets are those of the published tool contract; a code's disposition depends on the code alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from specloom.core import Fault

DISPOSITIONS: Mapping[str, str] = MappingProxyType(
    {
        "INVALID_REF": "terminal",
        "NO_OA_AVAILABLE": "needs_config",
        "RATE_LIMITED": "retry_after",
        "NETWORK_ERROR": "retry_after",
        "NOT_FOUND": "terminal",
        "AMBIGUOUS": "terminal",
        "STORE_ERROR": "needs_config",
        "LOG_ERROR": "needs_config",
        "CAPABILITY_DENIED": "needs_config",
        "FETCH_TIMEOUT": "retry_after",
        "SCHEMA_TOO_NEW": "needs_config",
        "LOCK_TIMEOUT": "retry_after",
        "INTERNAL_ERROR": "terminal",
        "NOT_IMPLEMENTED": "terminal",
        "TEXT_UNAVAILABLE": "terminal",
    }
)
"""Every code that the tools of this toolset give, with what a caller does about it."""

REASONS = (
    "redirect_not_in_allowlist",
    "insecure_scheme",
    "host_in_block_list",
    "size_cap_exceeded",
    "schema_drift",
    "capability_not_granted",
    "rate_limit_window",
    "ssrf_private_address",
    "content_type_mismatch",
)
"""Every reason of a `denial_context`."""

POLICY = frozenset({"redirect_not_in_allowlist", "insecure_scheme", "host_in_block_list"})
"""The reasons that are a decision of this side: a caller is told CAPABILITY_DENIED, the log keeps NETWORK_ERROR."""

_CODES: Mapping[str, str] = MappingProxyType(
    {
        "validation": "INVALID_REF",
        "bad_request": "INVALID_REF",
        "rate_limited": "RATE_LIMITED",
        "quota_exhausted": "RATE_LIMITED",
        "not_found": "NOT_FOUND",
        "config": "CAPABILITY_DENIED",
        "auth_required": "CAPABILITY_DENIED",
        "not_in_plan": "CAPABILITY_DENIED",
        "internal": "INTERNAL_ERROR",
    }
)


class Refusal(Exception):  # noqa: N818 - it is an answer, as a fault is
    """A call or a leg of one that is not answered: a code, a sentence, and what programs need to go on."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        denial: Mapping[str, Any] | None = None,
        remediation: Sequence[Mapping[str, Any]] = (),
        retry_after_ms: int | None = None,
        replayed: bool = False,
    ) -> None:
        super().__init__(message)
        assert code in DISPOSITIONS, code
        self.code = code
        self.message = message
        self.denial = dict(denial) if denial else None
        self.remediation = [dict(one) for one in remediation]
        self.retry_after_ms = retry_after_ms
        self.replayed = replayed

    @property
    def is_policy(self) -> bool:
        """Whether this side forbade it, and not the network."""
        return self.denial is not None and self.denial["reason"] in POLICY

    @property
    def logged(self) -> str:
        """The code of the transport's row: what policy refuses never left the transport layer."""
        return "NETWORK_ERROR" if self.is_policy else self.code

    def to_json(self, *, in_row: bool = False) -> dict[str, Any]:
        """The `error` object; a row of a batch always has `denial_context`, null when there is none."""
        said: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "disposition": DISPOSITIONS[self.code],
        }
        if self.denial is not None or in_row:
            said["denial_context"] = self.denial
        if self.remediation:
            said["remediation"] = self.remediation
        if self.retry_after_ms is not None:
            said["retry_after_ms"] = self.retry_after_ms
        if self.replayed:
            said["replayed"] = True
        return said


def from_fault(fault: Fault, *, absent: str = "") -> Refusal:
    """What a fault of the engine is called here. A delay is told only when the upstream asked for one.

    `absent` is what a caller is told where the upstream does not have what was named.
    """
    if absent and fault.kind == "not_found":
        return Refusal("NOT_FOUND", absent)
    if fault.kind == "network" and "no complete answer within" in fault.message:
        return Refusal("FETCH_TIMEOUT", fault.message)
    code = _CODES.get(fault.kind, "NETWORK_ERROR")
    comes_back = code == "RATE_LIMITED" or fault.kind == "upstream_unavailable"
    delay = fault.said_after * 1000 if fault.said_after is not None and comes_back else None
    return Refusal(code, fault.message, retry_after_ms=delay)


def to_refusal(error: Exception) -> Refusal:
    """Whatever ended a piece of work as callers are told it: what is none of ours and no fault is a defect."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, Fault):
        return from_fault(error)
    return Refusal("INTERNAL_ERROR", f"A defect of the server: {type(error).__name__}.")


_ADDRESS = re.compile(r"is refused: its address (\S+) is ")


def find_private_address(fault: Fault) -> str:
    """The address that the guard refused to connect to, or an empty text when the fault is about something else."""
    found = _ADDRESS.search(fault.message) if fault.kind == "validation" else None
    return found[1] if found else ""
