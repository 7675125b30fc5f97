"""Templates of texts: those that come with the package, and those of specs, which are filled in a sandbox.

Jinja is imported when the first is asked for.
"""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from .dataclasses import dataclass
from .paths import shipped_folder

if TYPE_CHECKING:
    from jinja2 import Environment

F = TypeVar("F", bound=Callable[..., str])


@dataclass(frozen=True, slots=True)
class PageTemplate:
    """A Markdown template of a spec: the file as it is shown, and its text."""

    file: str
    text: str


def template_renderer(
    folder: str, filters: Mapping[str, Callable[..., object]]
) -> Callable[[str, Mapping[str, Any]], str]:
    """What fills the templates of a folder of `templates`: the text of a template's name and of what it may name.

    A template may include what views share, such as the palette. In a template of HTML (`.html.j2`) all that is filled
    in is escaped, elsewhere nothing but by these filters. What a template names and is not there raises an
    UndefinedError.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=FileSystemLoader([f"{shipped_folder()}/templates/{one}" for one in (folder, "views/shared")]),
        autoescape=select_autoescape(["html.j2"], default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(filters)

    def render(name: str, facts: Mapping[str, Any]) -> str:
        return environment.get_template(name).render(facts)

    return render


# --- Filters that templates of specs may use behind `|` ---------------------------------------------------------------

_FILTERS: dict[str, Callable[..., str]] = {}


def text_filter(name: str) -> Callable[[F], F]:
    """Register what templates of specs may call under a name; a ValueError where there is one of that name."""

    def take(function: F) -> F:
        if _FILTERS.setdefault(name, function) is not function:
            raise ValueError(f"a filter named {name!r} is registered already")
        return function

    return take


@text_filter("quoted")
def _quoted(text: Any) -> str:
    """The text as JSON: it ends where its quotation mark stands, whatever is in it."""
    return json.dumps(text, ensure_ascii=False)


@text_filter("fence")
def _fence(text: str | None, language: str | None = "") -> str:
    """The text as a fenced block that nothing in it can close."""
    lines = (line.lstrip() for line in (text or "").splitlines())
    longest = max((len(line) - len(line.lstrip("`")) for line in lines), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language or ''}\n{(text or '').rstrip()}\n{fence}"


@text_filter("lines")
def _lines(text: str | None, first: float, last: float) -> str:
    """These lines of a text, which count from 1; at most 400 of them."""
    start = max(int(first) - 1, 0)
    return "\n".join((text or "").split("\n")[start : min(int(last), start + 400)])


@text_filter("plural")
def _plural(count: int | None, word: str, words: str = "") -> str:
    """`1 point`, `2 points`; empty where there is no number."""
    return "" if count is None else f"{count:,} {word if count == 1 else words or word + 's'}"


@text_filter("short")
def _short(number: int | None) -> str:
    """A number as people read it at a glance: 950, 1.2K, 3.4M; 0 for nothing."""
    value = number or 0
    for size, letter in ((1_000_000, "M"), (1_000, "K")):
        if value >= size:
            return f"{value / size:.1f}{letter}"
    return str(value)


@text_filter("minute")
def _minute(timestamp: str | None) -> str:
    """An RFC 3339 instant as `2026-03-01 10:00 UTC`; empty for nothing."""
    return f"{timestamp[:10]} {timestamp[11:16]} UTC" if timestamp and len(timestamp) > 15 else ""


@text_filter("joined")
def _joined(parts: list[Any], by: str = " · ") -> str:
    """The parts that are there, with a mark between them."""
    return by.join(str(part) for part in parts if part)


@text_filter("label")
def _label(text: str | None) -> str:
    """The text for between the square brackets of a link."""
    return (text or "").replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


@text_filter("cite")
def _cite(text: str | None) -> str:
    """The text as a quotation: `> ` before each of its lines."""
    return "\n".join(f"> {line}".rstrip() for line in (text or "").split("\n"))


@text_filter("host")
def _host(url: str | None) -> str:
    """The host of an address; empty for nothing."""
    return urlsplit(url or "").hostname or ""


# --- The sandbox ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def template_environment() -> Environment:
    """What texts are filled by: nothing in them reaches beyond what they are given; the text is Markdown, not HTML."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Sandbox(ImmutableSandboxedEnvironment):
        """What a mapping has under a name is its item, and never a method of Python's."""

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, Mapping):
                return obj.get(attribute)
            return super().getattr(obj, attribute)

    engine = Sandbox(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # What is not known leaves no word behind.
        finalize=lambda value: "" if value is None else value,
    )
    # Rooms bring filters of their own when they are first used, which may be later than this.
    engine.filters = ChainMap(_FILTERS, engine.filters)  # type: ignore[assignment]
    return engine


@lru_cache(maxsize=128)
def _compiled(text: str) -> Any:
    return template_environment().from_string(text)


def fill_template(text: str, context: Mapping[str, Any]) -> str:
    """The text of a template filled with what is in the context."""
    return str(_compiled(text).render(**context))
