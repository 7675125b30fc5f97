"""Pages of sites read through operations: an address finds its page, questions are asked, a template makes Markdown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from specloom.core import Answer, Fault, dataclass, field, fill_template, replace
from specloom.core.lazy import LateModule
from specloom.language import build, evaluate, truthy
from specloom.model import (
    AddressPattern,
    Operation,
    PageAddress,
    PageModel,
    PageQuestion,
    Row,
    parse_address,
)
from specloom.plugins import SitePage, SiteRoute, load_hooks

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LateModule("asyncio")

Asker = Callable[[str, Operation, Mapping[str, Any]], Awaitable[Answer]]
"""Asks an operation with arguments, for the question of this name."""

_AT_ONCE = 5
"""Items of one list that are asked for side by side."""
_SEEN = ("parts", "query", "fragment", "host", "url", "rows", "values")
"""What a template may name."""
_TELLING = ("not_found", "auth_required", "rate_limited", "blocked")
"""Kinds of fault that say most about why there is nothing, the most definite first."""


@dataclass(slots=True)
class PageContext:
    """What the expressions and the template of a page may name."""

    parts: Mapping[str, Any]
    query: Mapping[str, str]
    fragment: str
    host: str
    url: str
    rows: dict[str, list[Row] | None] = field(default_factory=dict)
    """The rows of each question that was asked; None for one that was left out or gave none."""
    values: dict[str, Any] = field(default_factory=dict)
    item: Any = None
    """The item of `each` that is asked for."""

    def get(self, name: str, /) -> Any:
        """What an expression's name stands for; the compiler lets none through that is not there."""
        return getattr(self, name, None)


@dataclass(frozen=True, slots=True)
class PageMatch:
    """The page that an address names, the form of address that said so, and what expressions see of it."""

    page: PageModel
    pattern: AddressPattern
    context: PageContext

    @property
    def route(self) -> SiteRoute:
        """The match as who reads pages sees it."""
        url = self.context.url
        fallback = evaluate(self.page.facts["fallback"], self.context) if "fallback" in self.page.facts else url
        return SiteRoute(self.page.provider, self.page.kind, self.page.name, url, fallback or "")


class PageIndex:
    """All pages that providers read, by host; whole hosts come before those with a part, then the order of files."""

    def __init__(self, pages: Iterable[PageModel]) -> None:
        self._hosts: dict[str, list[tuple[AddressPattern, PageModel, bool]]] = {}
        for page in pages:
            for patterns, is_holder in ((page.patterns, False), (page.holders, True)):
                for pattern in patterns:
                    self._hosts.setdefault(pattern.key, []).append((pattern, page, is_holder))

    def find(self, url: str) -> PageMatch | None:
        """The page that an address names; None for every address that no provider reads."""
        address = parse_address(url)
        if address is None:
            return None
        known = (*self._hosts.get(address.host, ()), *self._hosts.get(f".{address.host.partition('.')[2]}", ()))
        for pattern, page, is_holder in known:
            context = _open_held(page, pattern, address) if is_holder else _open(page, pattern, address)
            if context is not None:
                return PageMatch(page, pattern, context)
        return None


def _open(page: PageModel, pattern: AddressPattern, address: PageAddress) -> PageContext | None:
    """What expressions see of an address of this form; None where it has another, or `when` does not hold."""
    parts = pattern.match(address)
    if parts is None:
        return None
    known = dict.fromkeys(name for one in page.patterns for name in one.names) | parts
    context = PageContext(known, address.query, address.fragment, address.host, address.url)
    try:
        return context if page.when is None or truthy(evaluate(page.when, context)) else None
    except Fault:
        # An address of which not even this can be said is none of the page's.
        return None


def _open_held(page: PageModel, pattern: AddressPattern, address: PageAddress) -> PageContext | None:
    """The same of the address that this one holds: one step, from which none follows."""
    parts = pattern.match(address)
    target = parse_address(urljoin(address.url, str(parts["address"]))) if parts else None
    opened = (_open(page, one, target) for one in page.patterns) if target else ()
    return next((context for context in opened if context is not None), None)


def settle(page: PageModel, context: PageContext) -> None:
    """Work out every named value of a page that has what it needs by now, and put it into the context."""
    values, rows = context.values, context.rows
    for name, value in page.values:
        needed = {path[1] for path in value.uses if path[0] == "rows" and len(path) > 1}
        if name not in values and needed <= rows.keys():
            values[name] = evaluate(value, context)


async def make_page(match: PageMatch, ask: Asker) -> SitePage:
    """The page that a match is of; a fault where it is not to be had."""
    reading = _Reading(match.page, replace(match.context, rows={}, values={}), ask)
    await reading.ask_all()
    return reading.make()


@dataclass(slots=True)
class _Reading:
    """One page on its way: what expressions see so far, and the faults of what it can do without."""

    page: PageModel
    context: PageContext
    ask: Asker
    faults: list[Fault] = field(default_factory=list)

    async def ask_all(self) -> None:
        """Ask every question as soon as it has what it needs; the fault of one that is needed ends all others."""
        settle(self.page, self.context)
        tasks: dict[str, asyncio.Task[None]] = {}
        for one in self.page.asks:
            tasks[one.name] = asyncio.ensure_future(self._ask(one, [tasks[name] for name in sorted(one.needs)]))
        try:
            await asyncio.gather(*tasks.values())
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def _ask(self, one: PageQuestion, before: Sequence[asyncio.Task[None]]) -> None:
        if before:
            await asyncio.wait(before)
            if any(task.cancelled() or task.exception() for task in before):
                return
        rows: list[Row] | None = None
        if one.when is None or truthy(evaluate(one.when, self.context)):
            rows, faults = await self._rows(one)
            if not rows and not one.optional:
                raise _most_telling(faults) or self._missing()
            self.faults += faults
        self.context.rows[one.name] = rows or None
        settle(self.page, self.context)

    async def _rows(self, one: PageQuestion) -> tuple[list[Row], list[Fault]]:
        """The rows that come, in the order of the items, and the faults that came instead of others."""
        items = [None] if one.each is None else list(evaluate(one.each, self.context) or ())
        turns = asyncio.Semaphore(1 if one.first else _AT_ONCE)
        done = False

        async def find(item: Any) -> list[Row] | Fault:
            nonlocal done
            async with turns:
                if done:
                    return []
                arguments = build(one.arguments, replace(self.context, item=item))
                try:
                    rows = (
                        await asyncio.wait_for(self.ask(one.name, one.operation, arguments), one.within or None)
                    ).rows
                except TimeoutError:
                    message = f"{one.operation.provider} did not answer in {one.within:g} s"
                    return Fault("network", message, provider=one.operation.provider)
                except Fault as fault:
                    return fault
                done = one.first and bool(rows)
                return rows

        answers = await asyncio.gather(*(find(item) for item in items))
        rows = [row for answer in answers if isinstance(answer, list) for row in answer]
        return rows, [answer for answer in answers if isinstance(answer, Fault)]

    def make(self) -> SitePage:
        """The page of what came."""
        page = self.page
        for rule in page.errors:
            if truthy(evaluate(rule.when, self.context)):
                told = _most_telling(self.faults) if rule.kind == "not_found" else None
                message = evaluate(rule.message, self.context) if rule.message else None
                raise told or (Fault(rule.kind, message, action="inform_user") if message else self._missing())
        facts = {name: _known(evaluate(value, self.context)) for name, value in page.facts.items()}
        authors = facts.get("authors") or []
        return SitePage(
            content=self._content(),
            title=facts.get("title") or "",
            content_type=page.content_type,
            extracted_by=facts.get("by") or page.name,
            url=facts.get("url") or "",
            site=page.site,
            authors=tuple(authors if isinstance(authors, list) else [authors]),
            published=facts.get("published") or "",
            truncated=bool(facts.get("truncated")),
            extent=(facts.get("extent") or "") if facts.get("truncated") else "",
            is_markdown=bool(facts.get("markdown")),
            forum=facts.get("forum"),
            repository=facts.get("repository"),
            transcript=tuple(facts.get("transcript") or ()),
        )

    def _content(self) -> str:
        template = self.page.template
        try:
            load_hooks()  # they bring the filters
            return fill_template(template.text, {name: self.context.get(name) for name in _SEEN}).strip("\n").rstrip()
        except Exception as error:  # noqa: BLE001 - whatever a template does with what came is a fault of the template
            message = f"a page of {self.page.site} cannot be written: {type(error).__name__}: {error}"
            raise Fault("internal", message, detail=template.file) from None

    def _missing(self) -> Fault:
        """The fault of a page that its site does not have."""
        what = evaluate(self.page.facts["missing"], self.context) if "missing" in self.page.facts else None
        return Fault("not_found", f"{what or 'This page'} does not exist, or may not be seen by everybody")


def _most_telling(faults: Sequence[Fault]) -> Fault | None:
    """The fault that says most about why there is nothing; of equals the first."""
    ranks = {kind: rank for rank, kind in enumerate(_TELLING)}
    return min(faults, key=lambda fault: ranks.get(fault.kind, len(ranks)), default=None)


def _known(value: Any) -> Any:
    """A value without what is not known in it: null, and lists and objects with nothing in them; None for nothing."""
    if isinstance(value, dict):
        value = {name: known for name, item in value.items() if (known := _known(item)) is not None}
    elif isinstance(value, list):
        value = [known for item in value if (known := _known(item)) is not None]
    return None if value in ({}, []) else value
