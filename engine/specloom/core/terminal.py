"""What a command shows to a person: colour only on a terminal, tables that fit, requests without their secrets."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TextIO

    from .faults import Fault
    from .messages import Request
    from .secrets import Secret

# What follows is for every command, help included, so what only some of it needs is imported there.

_TINTS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34"}


class Paint:
    """Colours text, or leaves it as it is: not on a terminal, or `NO_COLOR` is set (no-color.org)."""

    def __init__(self, stream: TextIO, environ: Mapping[str, str]) -> None:
        self.on = stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"

    def __call__(self, text: str, tint: str) -> str:
        return f"\033[{_TINTS[tint]}m{text}\033[0m" if self.on and text else text


def to_json(value: Any) -> str:
    """A value as indented JSON, secrets masked."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def cut(text: str, width: int) -> str:
    """The text on one line of at most so many columns."""
    line = " ".join(printable(text).split())
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "…"


def printable(text: str) -> str:
    """The text on one line, with whatever would steer a terminal escaped: it is somebody else's text."""
    from .text import escape  # what it compiles is for no start

    return escape(_BREAK.sub(" ", text))


_BREAK = re.compile("[\t\n\r\v\f\x85\xad\u2028\u2029]")


class SafeStream:
    """A stream to people on which nothing of what is written steers a terminal, but colours and line ends.

    What would is written as in JSON, so that JSON stays what it was. Whatever else is asked of it is the stream's.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._paints = stream.isatty()

    def write(self, text: str) -> int:
        """Write the text, escaped; the characters of it that were taken, which is all."""
        if text.isascii() and text.replace("\n", "").isprintable():
            return self._stream.write(text)
        from .text import escape

        parts = _TINTED.split(text) if self._paints and "\033" in text else [text]
        # Every second one is a colour. A carriage return alone would put what follows in the place of what stands.
        parts[::2] = [_RETURN.sub(r"\\r", escape(part)) for part in parts[::2]]
        self._stream.write("".join(parts))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_TINTED = re.compile("(\033\\[[0-9;]*m)")
_RETURN = re.compile("\r(?!\n)")


def columns() -> int:
    """The width of the terminal, within reason."""
    # As `shutil` finds it, which would import three compressors.
    found = os.environ.get("COLUMNS", "").strip()
    width = int(found) if found.isdecimal() else 0
    if not width and sys.__stdout__ is not None:
        with contextlib.suppress(OSError, ValueError):
            width = os.get_terminal_size(sys.__stdout__.fileno()).columns
    return max(60, min(width or 100, 140))


def request_to_json(request: Request, secrets: Iterable[Secret] = ()) -> dict[str, Any]:
    """A request as data, with `•••` for every secret, in the body as well."""
    fields: dict[str, Any] = {"step": request.step, "method": request.method, "url": request.url}
    fields["query"] = [[name, str(value)] for name, value in request.query]
    fields["headers"] = {name: str(value) for name, value in request.headers}
    if request.body is not None:
        from .secrets import redact

        text = redact(request.body.decode("utf-8", "replace"), secrets)
        try:
            fields["json"] = json.loads(text)
        except ValueError:
            fields["body"] = text
    return fields


def request_lines(request: Request, secrets: Iterable[Secret] = ()) -> list[str]:
    """A request as a person reads it: verb and whole URL, then headers, then the body."""
    from .secrets import MASK, Secret, redact

    pairs = [f"{_escape(name)}={MASK if isinstance(one, Secret) else _escape(one)}" for name, one in request.query]
    lines = [f"{request.method} {request.url}" + (f"?{'&'.join(pairs)}" if pairs else "")]
    lines += [f"  {name}: {printable(str(value))}" for name, value in request.headers]
    if request.body is not None:
        lines.append(f"  {printable(redact(request.body.decode('utf-8', 'replace'), secrets))}")
    return lines


def _escape(text: str) -> str:
    from urllib.parse import quote

    # As the transport writes it; what that refuses, half a surrogate pair, can still be shown.
    return quote(text, safe="", errors="replace")


def secrets_in(values: Mapping[str, Any]) -> list[Secret]:
    """Every secret among settings."""
    from .secrets import Secret

    secrets = []
    for value in values.values():
        if isinstance(value, Secret):
            secrets.append(value)
        elif isinstance(value, Mapping):
            secrets += secrets_in(value)
    return secrets


def fault_line(fault: Fault) -> str:
    """A fault in a sentence, with what to do about it."""
    line = printable(fault.message)
    if fault.retry_after is not None:
        line += f" (try again in {fault.retry_after} s)"
    if fault.alternatives and not fault.near and "did you mean" not in fault.message:
        names = ", ".join(fault.alternatives[:8])
        line += f"\n  instead: {names}" + (" …" if len(fault.alternatives) > 8 else "")
    if fault.detail:
        # Of several who were asked each has a line.
        parts = fault.detail.split("; ") if len(fault.tried) > 1 else [fault.detail]
        line += "".join(f"\n  {cut(part, 300)}" for part in parts)
    return line


# --- answers --------------------------------------------------------------------------------------------------------

_HEADINGS = ("title", "name", "headline", "label")
_ADDRESSES = ("url", "link", "href")
_LINKS = (*_ADDRESSES, "id", "doi")
_DATES = ("publishedAt", "published_at", "date", "year", "updatedAt")
_TEXTS = ("snippet", "summary", "abstract", "description", "text")


def answer_lines(answer: Mapping[str, Any], paint: Paint, width: int) -> list[str]:
    """An answer as a list to read: for each row its title, address, date and excerpt; then what else it says."""
    lines: list[str] = []
    listed = _main_list(answer)
    for number, row in enumerate(answer.get(listed, []) if listed else [], 1):
        lines += row_lines(number, row, paint, width)
        lines.append("")
    rows = answer.get(listed)
    rest = {name: value for name, value in answer.items() if name != listed and not _repeats(value, rows)}
    for name, value in rest.items():
        lines.append(f"{paint(f'{printable(name)}:', 'dim')} {cut(_inline(value), width - len(name) - 2)}")
    return lines


def row_lines(number: int, row: Mapping[str, Any], paint: Paint, width: int) -> list[str]:
    """One row: number and title, then address and date, then the excerpt."""
    heading = _first(row, _HEADINGS)
    # An id alone says nothing to a person; all that there is does.
    title = heading or _first(row, _ADDRESSES) or _inline(row)
    lines = [f"{number:>3}  {paint(cut(title, width - 5), 'bold')}"]
    link, date = _first(row, _LINKS if heading else _ADDRESSES), _first(row, _DATES)
    if link and link != title:
        lines.append(f"     {paint(printable(link), 'blue')}")  # whole, so that a terminal can open it
    if date:
        lines.append(f"     {paint(cut(date, width - 5), 'dim')}")
    text = _first(row, _TEXTS)
    if text:
        lines.append(_wrapped(text, width))
    return lines


def _wrapped(text: str, width: int) -> str:
    import textwrap

    lines = textwrap.wrap(printable(text), width - 5, max_lines=2, placeholder=" …", break_on_hyphens=False)
    return "\n".join(f"     {line}" for line in lines)


def _main_list(answer: Mapping[str, Any]) -> str:
    lists = [name for name, rows in answer.items() if isinstance(rows, list) and rows and isinstance(rows[0], Mapping)]
    return max(lists, key=lambda name: len(answer[name]), default="")


def _repeats(value: Any, rows: Any) -> bool:
    """Whether a plain list only says again what stands in the rows, as a list of their addresses does."""
    if not (isinstance(value, list) and value and isinstance(rows, list)):
        return False
    texts = {one for row in rows if isinstance(row, Mapping) for one in row.values() if isinstance(one, str)}
    return all(isinstance(one, str) and one in texts for one in value)


def _first(row: Mapping[str, Any], names: Sequence[str]) -> str:
    for name in names:
        value = row.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""


def _inline(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def table(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Rows in columns, the last one cut to what is left of the width."""
    if not rows:
        return []
    sizes = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        head = "".join(f"{one:<{size}}  " for one, size in zip(row, sizes, strict=False))
        lines.append((head + cut(row[-1], max(20, width - len(head)))).rstrip())
    return lines
