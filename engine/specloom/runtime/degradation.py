"""Graceful degradation, told: what an answer lacks because somebody failed, and who answered in whose place.

Nothing here quotes an upstream: the words are those of the kinds of faults, the names those of the specs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from specloom.core import KINDS, Answer, Fault, cut_text, replace
from specloom.language import evaluate, truthy
from specloom.model import NOTICES, Model, Tool

from .plan import PlanContext, ProviderOutcome, Shortfall

LATE = "did not answer in time"
PHRASES: Mapping[str, str] = MappingProxyType(
    {
        "rate_limited": "asked to slow down",
        "quota_exhausted": "has no allowance left",
        "over_budget": "would cost more than may be spent",
        "auth_required": "did not accept the key",
        "not_in_plan": "does not offer this to the account that is set",
        "config": "is not configured",
        "bad_request": "refused the request",
        "validation": "could not take the request",
        "not_found": "has no record of it",
        "blocked": "refused automated readers",
        "network": "could not be reached",
        "upstream_unavailable": "failed",
        "circuit_open": "failed lately and was not asked",
        "layout_changed": "answered in a shape that its spec does not know",
        "too_large": "answered with more than may be read",
        "content_empty": "gave nothing readable",
        "browser_unavailable": "could not be opened in a browser",
        "session_not_found": "has no such session",
        "internal": "could not be asked because of a defect of this server",
    }
)
"""What somebody did who failed, by the kind of the fault; behind the name of who it was."""

NO_FAILURE = frozenset({"config", "not_found"})
"""Kinds that tell how things are: whoever is asked again says the same, and nothing went wrong."""
NOTHING = "not_found"
"""The kind of a fault that is an answer: there is nothing, as in an empty one."""
MOST_NOTICES = 6
"""Sentences of the engine at the head of an answer; of more than that it is said how many there are."""
LONGEST_QUOTE = 80
"""Characters of an argument that a notice quotes."""


def say_failure(fault: Fault) -> str:
    """How somebody failed, in the words that stand behind a name."""
    phrase = LATE if fault.late else PHRASES[fault.kind]
    # A ceiling is a setting, so which one it was is said.
    return f"{phrase} ({fault.detail})" if fault.kind == "over_budget" and fault.ours and fault.detail else phrase


def say_failures(failed: Iterable[Fault], model: Model) -> str:
    """Who failed and how, as a clause; those who failed alike stand together."""
    groups: dict[str, list[str]] = {}
    for fault in failed:
        phrase = say_failure(fault)
        title = _title(fault.provider, model)
        if not title:
            # A procedure speaks for itself.
            title, phrase = "", fault.message.rstrip(".")
        names = groups.setdefault(phrase, [])
        if title and title not in names:
            names.append(title)
    return ", ".join(f"{_list(names)} {phrase}".strip() for phrase, names in groups.items())


def _title(provider: str, model: Model) -> str:
    return model.heads.providers[provider].title if provider in model.heads.providers else provider


def _list(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _lower(title: str) -> str:
    """A title within a sentence; an abbreviation stays as it is."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def say_shortfall(one: Shortfall, model: Model) -> str:
    """The sentence for what is missing, or for who stood in."""
    what = _lower(model.capabilities[one.capability].title) if one.capability in model.capabilities else one.capability
    if not one.failed:
        return f"Nobody is configured for {what}, so it is missing."
    failures = say_failures(one.failed, model)
    if not _title(one.failed[0].provider, model):
        # A name stays as it is spelled, also where a sentence begins with it.
        failures = failures[:1].upper() + failures[1:]
    if one.instead:
        more = f" for {what}" if what else ""
        return f"{failures}; {_title(one.instead, model)} answered{more} instead."
    of = f" of {one.missing} of {one.of}" if one.of > 1 else ""
    if what:
        return f"{failures}; missing: {what}{of}."
    its, it = ("its", "it") if len({fault.provider for fault in one.failed}) == 1 else ("their", "them")
    further = {"again": f", and the next page asks {it} again", "none": f", and further pages are without {it}"}
    return f"{failures}; {its} rows are missing{further.get(one.further, '')}."


def say_parts(provider: str, answer: Answer, model: Model) -> list[str]:
    """What an answer of a provider is only a part of: sentences for pages that were not read and requests that failed.

    It is said how many rows there are where the answer tells it as `total`.
    """
    sentences, title = [], _title(provider, model)
    if answer.pages:
        total, count = answer.meta.get("total"), len(answer.rows)
        pages = f"{answer.pages} pages of it were" if answer.pages > 1 else "page of it was"
        if not isinstance(total, int):
            # A page that is full says nothing about the next one.
            sentences.append(f"{title} may have more: only the first {pages} read.")
        elif total > count:
            sentences.append(f"{title} has more: only the first {pages} read, {count:,} of {total:,} rows.")
    # A ceiling is a setting, so which one it was is said.
    spent = [fault.message for fault in answer.failed if fault.kind == "over_budget" and fault.ours]
    if spent:
        sentences.append(f"{title} answered in part. {max(spent, key=len)}")
    failed = [fault for fault in answer.failed if fault.kind not in (NOTHING, "over_budget")]
    if failed:
        phrases = dict.fromkeys(LATE if fault.late else PHRASES[fault.kind] for fault in failed)
        sentences.append(f"{title} answered in part: asked for more, it {' and '.join(phrases)}.")
    return sentences


def say_filtered(provider: str, count: int, model: Model) -> str:
    """The sentence for a provider that had rows, of which none is what was asked for."""
    what = "The one row" if count == 1 else f"None of the {count:,} rows"
    fits = "does not fit" if count == 1 else "fits"
    return f"{what} of {_title(provider, model)} {fits} the filters."


def say_not_asked(providers: Sequence[str], model: Model) -> str:
    """The sentence for those who were not asked, because nothing that they have can fit these arguments."""
    titles = [_title(one, model) for one in providers]
    are, they = ("was", "it") if len(titles) == 1 else ("were", "they")
    return f"{_list(titles)} {are} not asked: these arguments ask for what {they} cannot have."


def say_wider(found: int, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The sentence for rows of a second try: how few there were at first, and what was asked for instead."""
    changes = [f"with {name} {_quote(value)}" for name, value in after.items() if value != before.get(name)]
    changes += [f"without {name}" for name in before if name not in after]
    few = f"Only {found} {'was' if found == 1 else 'were'}" if found else "Nothing was"
    return f"{few} found as asked; these are of a second search, {', '.join(changes)}."


def _quote(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f'"{cut_text(" ".join(text.split()), LONGEST_QUOTE)}"'


# --- What stands at the head of an answer ----------------------------------------------------------------------------


def with_notices(answer: Mapping[str, Any], more: Iterable[str]) -> dict[str, Any]:
    """The answer with its notices first and these behind them, each once; as it is where there are none."""
    sentences = list(dict.fromkeys([*answer.get(NOTICES, ()), *more]))
    rest = {name: value for name, value in answer.items() if name != NOTICES}
    return {NOTICES: sentences, **rest} if sentences else rest


def takes_notices(tool: Tool) -> bool:
    """Whether the published schema of a tool's answers has notices."""
    return NOTICES in tool.output_schema["properties"]


def note_degradation(tool: Tool, model: Model, context: PlanContext, outcome: ProviderOutcome) -> None:
    """Put into the answer what its reader has to know before it: the words of the spec first, then the engine's.

    Who says in a spec's words how others failed (`failures`) has said it; such an answer is soon asked for anew.
    """
    told: list[str] = []
    is_said = False
    for when, say in tool.notices:
        if truthy(evaluate(when, context)):
            told.append(str(evaluate(say, context)))
            is_said = is_said or ("failures",) in say.uses
    shortfalls = [known for one in outcome.shortfalls if (known := _without_nothing(one)) is not None]
    if is_said:
        shortfalls = [one for one in shortfalls if not one.is_main]
        outcome.partial = outcome.partial or any(KINDS[fault.kind].retryable for fault in outcome.failed)
    # Who stood in for whom comes before what is missing.
    shortfalls = sorted(shortfalls, key=lambda one: not one.instead)
    said = list(dict.fromkeys([*(say_shortfall(one, model) for one in shortfalls), *outcome.notices]))
    told += said[:MOST_NOTICES]
    if len(said) > MOST_NOTICES:
        told.append(f"There are {len(said) - MOST_NOTICES} more notices of this kind.")
    if told and takes_notices(tool):
        outcome.answer = with_notices(outcome.answer, told)
    elif tool.envelope:
        outcome.aside = list(dict.fromkeys(told))


def tell_failures(outcome: ProviderOutcome, model: Model) -> str | None:
    """How those failed who were asked before whoever answered; None where nobody did."""
    return say_failures((fault for fault in outcome.failed if fault.kind != NOTHING), model) or None


def _without_nothing(shortfall: Shortfall) -> Shortfall | None:
    """A shortfall without those who had nothing; None where that is all there was."""
    failed = tuple(fault for fault in shortfall.failed if fault.kind != NOTHING)
    return replace(shortfall, failed=failed) if failed or not shortfall.failed else None
