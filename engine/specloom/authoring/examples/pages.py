"""Runs the examples of pages: an address, the replies to what is asked for it, and the Markdown that comes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from itertools import zip_longest
from typing import Any

from specloom.core import Answer, Fault, Report, Request, Response, dataclass, did_you_mean
from specloom.model import Model, Operation, Provider
from specloom.plugins import SitePage
from specloom.runtime import PageIndex, PageMatch, drive, make_page, perform, read_settings
from specloom.specs import Spec, to_plain

from .compare import Example, ExampleTrace, compare_result, differing_request, differing_row, examples_of, short
from .context import run_through
from .providers import DEFAULT_NOW, clock, describe_request, environment, to_response

_FACTS = tuple(one.name for one in fields(SitePage) if one.name != "content")


@dataclass(slots=True)
class PageTrace(ExampleTrace):
    """What one example of a page did: the addresses that were recognised, the questions asked, and the page."""

    matches: list[PageMatch | None] = field(default_factory=list)
    questions: set[str] = field(default_factory=set)
    page: SitePage | None = None


def check_pages(spec: Spec, provider: Provider, model: Model, report: Report) -> list[tuple[Example, ExampleTrace]]:
    """Run a provider's examples of pages and compare; what each did, for the coverage of the spec."""
    if len((to_plain(spec.root.get("pages")) or {}).get("kinds", ())) > len(provider.pages):
        return []  # what a page that is broken would have read is not blamed on examples
    traces: list[tuple[Example, ExampleTrace]] = []
    shown: set[str] = set()
    examples = [example for example in examples_of(spec, report) if "page" in example.stated]
    own = PageIndex(provider.pages)
    # Of other providers' pages nothing is read where no example is of a page.
    others = PageIndex([page for page in (model.pages if examples else ()) if page.provider != provider.name])
    for example in examples:
        addresses = example.stated["page"]
        addresses = addresses if isinstance(addresses, list) else [addresses]
        trace = PageTrace(matches=[own.find(address) for address in addresses])
        for address, match in zip(addresses, trace.matches, strict=True):
            if match and (other := others.find(address)):
                example.wrong("kind", f"{address} is read as {other.page.id} too; only one provider reads an address")
        match = trace.matches[0]
        if _compare_matches(example, addresses, trace, provider) and match and "replies" in example.stated:
            _run(example, match, provider, model, trace)
            shown |= {match.page.kind} if trace.page else set()
        traces.append((example, trace))
    for page in provider.pages:
        if page.kind not in shown:
            hint = "an example under `examples` states an address, the replies and the Markdown that must come of them"
            report.add("E403", page.place, f"the page {page.id} has no example", hint)
    return traces


def _compare_matches(example: Example, addresses: Sequence[str], trace: PageTrace, provider: Provider) -> bool:
    """Whether the addresses are recognised as the example says."""
    expect = example.expect
    kinds = {page.kind for page in provider.pages}
    if expect.get("kind") not in {None, *kinds}:
        hint = did_you_mean(str(expect["kind"]), kinds)
        example.add("E402", "expect", f"the provider has no page {expect['kind']!r}", hint)
        return False
    for address, match in zip(addresses, trace.matches, strict=True):
        kind = match.page.kind if match else None
        if kind != expect.get("kind", kind or ""):
            expected = expect.get("kind", "any") or "none"
            example.wrong("kind", f"{address} is {kind or 'no page of this provider'}, not {expected}")
            return False
        if match is None:
            continue
        if "fallback" in expect and (match.route.fallback or None) != expect["fallback"]:
            example.wrong("fallback", f"{address} can be read at {match.route.fallback or 'no other place'}")
        parts = {name: part for name, part in match.context.parts.items() if part is not None}
        for sentence in differing_row(parts, expect.get("parts") or {}):
            example.wrong("parts", f"{address} {sentence}")
    return True


def _run(example: Example, match: PageMatch, own: Provider, model: Model, trace: PageTrace) -> None:
    stated = example.stated
    replies = {name: list(one) if isinstance(one, list) else [one] for name, one in stated["replies"].items()}
    now = clock(stated.get("now", DEFAULT_NOW))
    names = {ask.name for ask in match.page.asks}
    for name in replies:
        if name.partition(".")[0] not in names:
            hint = did_you_mean(name, names)
            example.add("E402", "replies", f"{match.page.id} has no question {name!r}", hint)
            return
    sent: dict[str, list[Request]] = {}
    unanswered: list[str] = []

    async def ask(question: str, operation: Operation, arguments: Mapping[str, Any]) -> Answer:
        trace.questions.add(question)
        provider = own if operation.provider == own.name else model.providers[operation.provider]
        config, _ = read_settings(provider.settings, environment(stated.get("config")))

        def answer(request: Request) -> Response | Fault:
            name = f"{question}.{request.step}"
            name = name if name in replies else question
            sent.setdefault(name, []).append(request)
            waiting = replies.get(name)
            if not waiting:
                unanswered.append(name)
                return Fault("internal", "the example has no reply")
            # The last one stands for all that follow.
            return to_response(waiting.pop(0) if len(waiting) > 1 else waiting[0], request.url)

        return drive(perform(provider, operation, arguments, config, now), answer)

    async def read() -> SitePage | Fault:
        try:
            return await make_page(match, ask)
        except Fault as fault:
            return fault

    ended = run_through(read())
    if unanswered:
        message = f"{example.name!r} asks {unanswered[0]!r}, for which it has no reply"
        example.report.add("E401", example.node.place, message)
        return
    for name in replies.keys() - sent.keys():
        example.add("E401", "replies", f"{example.name!r} never asks {name!r}")
    if isinstance(ended, Fault):
        trace.fault = ended
    else:
        trace.page = ended
    _compare(example, sent, trace)


def _compare(example: Example, sent: Mapping[str, list[Request]], trace: PageTrace) -> None:
    expect, page = example.expect, trace.page
    for name, expected in (expect.get("sent") or {}).items():
        requests = sent.get(name, [])
        listed = expected if isinstance(expected, list) else [expected]
        times = listed[0].get("times", len(listed))
        if len(requests) != times:
            example.wrong("sent", f"{name!r} was sent {len(requests)} times, not {times}")
        for request, stated in zip(requests, listed, strict=False):
            for sentence in differing_request(describe_request(request), stated):
                example.wrong("sent", f"{name!r} {sentence}")
    if not compare_result(example, [], trace.fault) or page is None:
        return
    values = {name: getattr(page, name) for name in _FACTS}
    facts = {name: list(one) if isinstance(one, tuple) else one for name, one in values.items() if one}
    for sentence in differing_row(facts, expect.get("page") or {}):
        example.wrong("page", f"the page {sentence}")
    lines = zip_longest(page.content.split("\n"), str(expect.get("content", page.content)).rstrip().split("\n"))
    for number, (had, should) in enumerate(lines, 1):
        if had != should:
            example.wrong("content", f"line {number} of the Markdown is {short(had)}, not {short(should)}")
            break
