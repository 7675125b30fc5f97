"""Why the paper tools do not answer a call: the contract's closed codes, over the kinds of fault, and their envelopes.

A code's disposition depends on the code alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from specloom.core import Fault
from specloom.plugins import ENVELOPES, FLAG, OBJECT, WHOLE, listed, texts
from specloom.plugins.schemas import record

CODES: Mapping[str, tuple[str, str]] = {
    "INVALID_REF": ("validation", "terminal"),
    "NO_OA_AVAILABLE": ("not_found", "needs_config"),
    "RATE_LIMITED": ("rate_limited", "retry_after"),
    "NETWORK_ERROR": ("network", "retry_after"),
    "NOT_FOUND": ("not_found", "terminal"),
    "AMBIGUOUS": ("validation", "terminal"),
    "STORE_ERROR": ("config", "needs_config"),
    "LOG_ERROR": ("config", "needs_config"),
    "CAPABILITY_DENIED": ("config", "needs_config"),
    "FETCH_TIMEOUT": ("network", "retry_after"),
    "SCHEMA_TOO_NEW": ("config", "needs_config"),
    "LOCK_TIMEOUT": ("upstream_unavailable", "retry_after"),
    "INTERNAL_ERROR": ("internal", "terminal"),
    "NOT_IMPLEMENTED": ("validation", "terminal"),
    "TEXT_UNAVAILABLE": ("content_empty", "terminal"),
}
"""Every code that these tools give: the kind of fault that it is, and what a caller does about it."""

OF_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("validation", "bad_request"), "INVALID_REF"),
    **dict.fromkeys(("rate_limited", "quota_exhausted"), "RATE_LIMITED"),
    **dict.fromkeys(("config", "auth_required", "not_in_plan"), "CAPABILITY_DENIED"),
    "not_found": "NOT_FOUND",
    "content_empty": "TEXT_UNAVAILABLE",
    "internal": "INTERNAL_ERROR",
}
"""The code of a fault that the engine raised; of any other kind it is NETWORK_ERROR."""

POLICY = frozenset({"redirect_not_in_allowlist", "insecure_scheme", "host_in_block_list"})
"""The reasons that are a decision of this side: a caller is told CAPABILITY_DENIED, the log keeps NETWORK_ERROR."""

_ADDRESS = re.compile(r"is refused: its address (\S+) is ")


class PaperFault(Fault):
    """A fault under one of CODES, with what programs need to go on."""

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
        super().__init__(CODES[code][0], message)
        self.code = code
        self.disposition = CODES[code][1]
        """What a caller does about it: `terminal`, `retry_after` or `needs_config`."""
        self.denial = dict(denial) if denial else None
        self.remediation = [dict(remedy) for remedy in remediation]
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

    def to_error(self, *, in_row: bool = False) -> dict[str, Any]:
        """The `error` object of an answer, or of a row of a batch, which has a denial also where it is null."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "disposition": self.disposition}
        error |= {"denial_context": self.denial} if in_row or self.denial is not None else {}
        error |= {"remediation": self.remediation} if self.remediation else {}
        error |= {"retry_after_ms": self.retry_after_ms} if self.retry_after_ms is not None else {}
        return error | ({"replayed": True} if self.replayed else {})


def to_paper_fault(error: Exception, *, absent: str = "") -> PaperFault:
    """Whatever ended a piece of work under its code; a delay is told only when the upstream asked for one.

    `absent` is what a caller is told where the upstream does not have what was named.
    """
    if isinstance(error, PaperFault):
        return error
    if not isinstance(error, Fault):
        return PaperFault("INTERNAL_ERROR", f"A defect of the server: {type(error).__name__}.")
    if absent and error.kind == "not_found":
        return PaperFault("NOT_FOUND", absent)
    if error.kind == "network" and "no complete answer within" in error.message:
        return PaperFault("FETCH_TIMEOUT", error.message)
    code = OF_KINDS.get(error.kind, "NETWORK_ERROR")
    comes_back = code == "RATE_LIMITED" or error.kind == "upstream_unavailable"
    delay = error.said_after * 1000 if error.said_after is not None and comes_back else None
    return PaperFault(code, error.message, retry_after_ms=delay)


def find_private_address(fault: Fault) -> str:
    """The address that the SSRF guard refused to connect to, or "" when the fault is about something else."""
    match = _ADDRESS.search(fault.message) if fault.kind == "validation" else None
    return match[1] if match else ""


ERROR = record(
    {
        **texts("code", "message", "disposition"),
        "denial_context": {},
        "remediation": listed(OBJECT),
        "retry_after_ms": WHOLE,
        "replayed": FLAG,
    },
    *("code", "message", "disposition"),
)
"""The `error` of an answer; a row of a batch always has `denial_context`, null when there is none."""


_ADVICE: Mapping[str, str] = {
    "terminal": "The same call fails again.",
    "retry_after": "Ask again later.",
    "needs_config": "The user has to change a setting; do not try again before.",
}
"""What a reader does about a failure, by its disposition."""
_OF_ARGUMENTS = frozenset({"INVALID_REF", "AMBIGUOUS", "NOT_IMPLEMENTED"})


def say_failure(answer: Mapping[str, Any]) -> str:
    """A failed answer as Markdown: what it is about, the code with its disposition, why, and what to do."""
    error = answer["error"]
    message = " ".join(str(error["message"]).split())
    ref = answer.get("ref")
    about = f"{ref} · " if ref and ref not in message else ""
    sentences = [f"{about}{error['code']} ({error['disposition']}): {message}{'' if message[-1:] in '.!?' else '.'}"]
    delay = error.get("retry_after_ms")
    if error["code"] in _OF_ARGUMENTS:
        sentences.append("Correct the arguments.")
    else:
        sentences.append(f"Ask again in {-(-delay // 1000)} s." if delay is not None else _ADVICE[error["disposition"]])
    if error.get("replayed"):
        sentences.append("This is told from memory; force: true asks anew.")
    remedies = [
        f"- {one.get('kind')}: {one.get('value')} ({one.get('note')})" for one in error.get("remediation") or ()
    ]
    return "\n".join([" ".join(sentences), *(["What the user could set:", *remedies] if remedies else [])])


@ENVELOPES.register("paper", gives={"ok": FLAG, "ref": {}, "error": ERROR}, text=say_failure)
def tell_paper(fault: Fault, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`{ok: false, ref, error}`; `ref` is null when none was given."""
    ref = arguments.get("ref")
    return {"ok": False, "ref": ref if isinstance(ref, str) else None, "error": to_paper_fault(fault).to_error()}


@ENVELOPES.register("paper_fetch", gives={"ok": FLAG, "ref": {}, "error": ERROR}, text=say_failure)
def tell_fetch(fault: Fault, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`{ok: false, ref, error}`; `ref` is left out when none was given."""
    return {key: value for key, value in tell_paper(fault, arguments).items() if value is not None}


@ENVELOPES.register("papers", gives={"ok": FLAG, "error": ERROR}, text=say_failure)
def tell_papers(fault: Fault, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """`{ok: false, error}`, for calls that are about no single paper."""
    return {"ok": False, "error": to_paper_fault(fault).to_error()}
