"""A fault is about a call: a kind from a closed list, one sentence, and when to come back.

Kinds are finer than what travels: `quota_exhausted` and `layout_changed` tell an operator what happened, while a client
branches on the contract's vocabulary. `FaultKind.wire` is that word and the finer one travels beside it as `reason`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from .paths import own_words

Action = Literal[
    "retry_after_delay",
    "try_different_provider",
    "check_api_key",
    "broaden_query",
    "fix_arguments",
    "look_before_retry",
    "inform_user",
    "report_bug",
]
Trip = Literal["at_once", "count", "ignore"]


class FaultKind(NamedTuple):
    """What a kind means to a client (`wire`, `retryable`, `action`, `retry_after`) and to a breaker (`trip`)."""

    meaning: str
    action: Action
    trip: Trip = "ignore"
    retryable: bool = False
    retry_after: int | None = None
    wire: str = ""
    """The contract's word, where the kind is finer than that."""


_KINDS = {
    "rate_limited": FaultKind(
        "The upstream asks to slow down.", "retry_after_delay", "at_once", retryable=True, retry_after=60
    ),
    "quota_exhausted": FaultKind(
        "A paid or daily allowance is used up.", "try_different_provider", wire="rate_limited"
    ),
    "over_budget": FaultKind(
        "A ceiling of this server for what may be spent is reached.", "try_different_provider", wire="rate_limited"
    ),
    "auth_required": FaultKind("The key is missing or refused.", "check_api_key", "count"),
    "not_in_plan": FaultKind("The account does not include this product.", "check_api_key", wire="config"),
    "config": FaultKind("A name or a setting is wrong or missing.", "try_different_provider"),
    "bad_request": FaultKind("The upstream refuses these arguments.", "fix_arguments", wire="validation"),
    "validation": FaultKind("An argument is outside what is allowed.", "inform_user"),
    "not_found": FaultKind("The thing that was named does not exist.", "inform_user"),
    "blocked": FaultKind("The site refuses automated readers.", "inform_user", "count"),
    "network": FaultKind(
        "No usable connection, or no answer in time.", "retry_after_delay", "count", retryable=True, retry_after=5
    ),
    "upstream_unavailable": FaultKind("The upstream failed.", "try_different_provider", "count", retryable=True),
    "circuit_open": FaultKind(
        "The upstream failed lately and rests.", "try_different_provider", retryable=True, wire="upstream_unavailable"
    ),
    "layout_changed": FaultKind(
        "The answer no longer has the shape of the spec.", "report_bug", "count", wire="upstream_unavailable"
    ),
    "too_large": FaultKind("The answer is larger than the declared cap.", "inform_user", wire="upstream_unavailable"),
    "content_empty": FaultKind("Nothing readable was found.", "report_bug", retryable=True),
    "browser_unavailable": FaultKind("No browser can be started.", "report_bug"),
    "session_not_found": FaultKind("The session does not exist.", "inform_user"),
    "internal": FaultKind("A defect of the server or of a spec.", "report_bug", wire="upstream_unavailable"),
}
KINDS: Mapping[str, FaultKind] = MappingProxyType(
    {name: kind._replace(wire=kind.wire or name) for name, kind in _KINDS.items()}
)
"""Every kind of fault. The wire words, actions and delays are those of the tool contract, but for
`fix_arguments`: who sent a wrong argument can mend it without asking anybody.
"""


MAY_BE_WRITTEN = "All or part of it may have been written: look at what is there before you write it again."
"""What is said to whoever asked for a write of which nobody knows how far it came."""


class Fault(Exception):  # noqa: N818 - a fault is an answer, and the domain's word for it
    """A call that could not be answered: what happened, to whom, and whether and when to try again."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        provider: str = "",
        retry_after: int | None = None,
        alternatives: Sequence[str] = (),
        detail: str = "",
        action: Action | None = None,
        size: int | None = None,
        ours: bool = False,
        late: bool = False,
        argument: str = "",
        near: str = "",
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"unknown kind of fault {kind!r}; known: {', '.join(KINDS)}")
        # A sentence may quote a page, an upstream or a caller.
        message, detail = own_words(to_plain(message)), to_plain(detail)
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.provider = provider
        self.retry_after = retry_after if retry_after is not None else KINDS[kind].retry_after
        self.said_after = retry_after
        """The seconds that somebody named; None where `retry_after` is only what is usual for the kind."""
        self.alternatives = tuple(map(to_plain, alternatives))
        self.detail = detail
        self.action: Action = action or ("fix_arguments" if argument else KINDS[kind].action)
        self.size = size
        """The bytes of what is `too_large`: as many as were announced, else as many as had come; None where unknown."""
        self.ours = ours
        """This side would not ask, and nothing was learnt about the upstream."""
        self.late = late
        """No answer came within the time that there was."""
        self.argument = to_plain(argument)
        """The argument that is wrong, as its tool names it; "" where it is none, or not one alone."""
        self.near = near
        """The name or value nearest to the wrong one; "" where none is near."""
        self.tried: tuple[str, ...] = ()
        """Whom a plan has asked in vain, in that order."""
        self.spent: Mapping[str, Any] = {}
        """What was asked before it failed and for how much, as `_meta.cost` says it."""
        self.also: dict[str, Any] = {}
        """What else the block tells, under published names: of something beside what failed."""
        self.has_asked = False
        """Somebody outside was sent a request before it failed, for this call or for one that this one has joined."""
        self.unsent = False
        """Nobody could be asked: there was no connection."""
        self.may_have_written = False
        """Something was written before it failed, or may have been: who calls again may write it twice."""

    def told_as(
        self,
        *,
        kind: str | None = None,
        message: str | None = None,
        provider: str | None = None,
        detail: str | None = None,
    ) -> Fault:
        """The same fault in other words, with all else that is known of it; another kind has delays of its own."""
        same = kind is None or kind == self.kind
        told = Fault(
            self.kind if kind is None else kind,
            self.message if message is None else message,
            provider=self.provider if provider is None else provider,
            retry_after=self.said_after if same else None,
            alternatives=self.alternatives,
            detail=self.detail if detail is None else detail,
            action=self.action if same or self.may_have_written else None,
            size=self.size,
            ours=self.ours,
            late=self.late,
            argument=self.argument,
            near=self.near,
        )
        told.tried, told.spent, told.also = self.tried, self.spent, self.also
        told.has_asked, told.unsent, told.may_have_written = self.has_asked, self.unsent, self.may_have_written
        return told

    def after_writing(self) -> Fault:
        """The same fault where something was written or may have been: it says so, and nobody is to call again."""
        if self.may_have_written:
            return self
        told = self.told_as(message=f"{self.message.rstrip('.')}. {MAY_BE_WRITTEN}")
        told.action, told.may_have_written = "look_before_retry", True
        return told

    def to_json(self) -> dict[str, Any]:
        """The contract's machine-readable block: `kind`, `retryable`, `suggestedAction`, and what else is known."""
        kind = KINDS[self.kind]
        is_retryable = kind.retryable and not self.may_have_written
        block: dict[str, Any] = {"kind": kind.wire, "retryable": is_retryable, "suggestedAction": self.action}
        if self.kind != kind.wire:
            block["reason"] = self.kind
        if is_retryable and self.retry_after is not None:
            block["retryAfterSeconds"] = self.retry_after
        told = {"provider": self.provider, "argument": self.argument, "did_you_mean": self.near}
        block |= {name: text for name, text in told.items() if text}
        if self.alternatives:
            block["alternatives"] = list(self.alternatives)
        if self.detail:
            block["detail"] = self.detail
        return {"error": block | self.also}


def to_plain(text: str) -> str:
    """A sentence that may quote anybody, without controls and invisible characters."""
    if text.isascii() and text.isprintable():
        return text
    from .text import clean  # what it compiles is for no start

    return clean(text)[0]


_HEADLINES = (
    ("auth_required", "not_in_plan", "config"),
    ("bad_request", "validation"),
    ("quota_exhausted", "rate_limited", "over_budget"),
    ("network", "upstream_unavailable", "circuit_open"),
)
"""Which of several faults is told first: what a setting mends, then what other arguments mend, then what time mends.

The rest come last. That a thing does not exist is among them: it is not known while others could not be asked.
"""


def all_failed(failed: Sequence[Fault]) -> Fault:
    """The fault among several that the caller can do most about, with what each of them said as its detail.

    Of equals it is the one after which to come back soonest, and of those the first that was asked.
    """
    if len(failed) == 1:
        return failed[0]
    first = min(failed, key=lambda one: (_rank(one.kind), one.retry_after or 0))
    messages = [(one.provider, one.message.rstrip(".")) for one in failed]
    details = dict.fromkeys(f"{provider}: {message}" if provider else message for provider, message in messages)
    return first.told_as(detail="; ".join(details))


def _rank(kind: str) -> int:
    return next((rank for rank, kinds in enumerate(_HEADLINES) if kind in kinds), len(_HEADLINES))
