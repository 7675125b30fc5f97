"""Blocks of Markdown are put together here: paragraphs, prefixes of lists and quotes, and the lines between them."""

from __future__ import annotations

import re
from typing import Final

# --- Page text that would read as Markdown structure is escaped, and ordinary prose is left alone ---------------------


_LINE: Final = re.compile(r"(?:#{1,6}(?= |$)|[-+*](?= |$)|>|`{3}|~{3}|=+$|-{2,}$|\|)")
_NUMBERED: Final = re.compile(r"(\d{1,9})([.)])(?= |$)")
_REFERENCE: Final = re.compile(r"\[[^\[\]]{1,999}\]:")
_SPECIAL_STARTS: Final = frozenset("#-+*>`~=|[0123456789")
_TAG: Final = re.compile(r"<(?=[a-zA-Z/!?])")
_STAR: Final = re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*][^*\n]{0,300}\*)")
_LOW_LINE: Final = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_](?:[^_\n]|_(?=\w)){0,60}_(?!\w))")


def escape_inline(text: str) -> str:
    """Text in which no tag, link, image or emphasis begins that the page does not have."""
    if "<" in text:
        text = _TAG.sub(r"\\<", text)
    if "](" in text:
        text = text.replace("](", "]\\(")
    if "*" in text:
        text = _STAR.sub(_escape_run, text)
    if "_" in text:
        text = _LOW_LINE.sub(_escape_run, text)
    return text


def _escape_run(match: re.Match[str]) -> str:
    return "".join("\\" + char for char in match[1])


def escape_line(line: str) -> str:
    """The line of a paragraph, not read as a heading, list item, quote, fence, rule or table row."""
    if line[:1] not in _SPECIAL_STARTS:
        return line
    if _LINE.match(line) or _REFERENCE.match(line):
        return "\\" + line
    numbered = _NUMBERED.match(line)
    if numbered:
        return f"{numbered[1]}\\{line[numbered.end(1) :]}"
    return line


def fence_for(text: str, char: str = "`", least: int = 3) -> str:
    """The shortest fence that no run inside the text closes."""
    longest = max((len(run) for run in re.findall(f"{re.escape(char)}+", text)), default=0)
    return char * max(least, longest + 1)


MAX_NESTING: Final = 12
"""Lists and quotes in one another that still indent; each level lengthens every line in it."""

_CLOSING: Final = ".,;:!?)]\"'”’»…。，、；：！？）」』"
_MARKS: Final = {"strong": "**", "em": "*", "del": "~~"}


class Open:
    """An inline element that has begun: what it is, where its pieces start, and the address of a link."""

    __slots__ = ("inner", "kind", "start", "url")

    def __init__(self, kind: str, start: int, url: str) -> None:
        self.kind = kind
        self.start = start
        self.url = url
        self.inner = 0
        """How many of its own kind are open in it; they say nothing new."""


class MarkdownWriter:
    """Collects pieces of inline text and turns them into blocks."""

    __slots__ = ("_first", "_force", "_last", "_open", "_prefix", "_stack", "flat", "heading", "lines", "pieces")

    def __init__(self, *, flat: bool = False) -> None:
        self.lines: list[str] = []
        self.pieces: list[str] = []
        self.heading = 0
        self.flat = flat
        self._open: list[Open] = []
        self._prefix = ""
        self._first: str | None = None
        self._force: int | None = None
        self._last = ""
        self._stack: list[tuple[str, str | None]] = []

    # -- inline ---------------------------------------------------------------------------------------------------

    def text(self, text: str) -> None:
        """Text of the page: escaped, its line ends as good as blanks."""
        if text.isspace():
            if self.pieces:
                self.pieces.append(" ")
            return
        if "\n" in text:
            text = text.replace("\n", " ")
        self.pieces.append(escape_inline(text))

    def raw(self, text: str) -> None:
        """Inline Markdown as it is."""
        self.pieces.append(text)

    def line_break(self) -> None:
        """A new line in the paragraph; the second in a row ends the paragraph."""
        if self.flat or self.heading:
            self.pieces.append(" ")
            return
        for piece in reversed(self.pieces):
            if piece == "\n":
                self.block()
                return
            if piece and not piece.isspace():
                break
        self.pieces.append("\n")

    def has_words(self) -> bool:
        """Whether something other than blanks waits to be written; blanks become one, and are not looked at again."""
        if not self.pieces:
            return False
        if not "".join(self.pieces).isspace():
            return True
        self.pieces[:] = [" "]
        for inline in self._open:
            inline.start = min(inline.start, 1)
        return False

    def ends_word(self) -> bool:
        """Whether a letter, a digit or a closing bracket was written last."""
        last = self.pieces[-1][-1:] if self.pieces else ""
        return last.isalnum() or last in (")", "]")

    def ends_sentence(self) -> bool:
        """Whether a letter, a digit or a mark that closes a word or a sentence was written last."""
        last = self.pieces[-1][-1:] if self.pieces else ""
        return last.isalnum() or last in _CLOSING if last else False

    def begin(self, kind: str, url: str = "") -> None:
        for outer in self._open:
            if outer.kind == kind:
                outer.inner += 1
                return
        self._open.append(Open(kind, len(self.pieces), url))

    def end(self, kind: str) -> None:
        for outer in self._open:
            if outer.kind == kind and outer.inner:
                outer.inner -= 1
                return
        if self._open and self._open[-1].kind == kind:
            self._wrap(self._open.pop())

    def _wrap(self, inline: Open) -> None:
        """Put marks around the pieces of an inline element, and blanks at its ends outside of them."""
        pieces = self.pieces
        content = "".join(pieces[inline.start :])
        core = content.strip()
        if not core:
            return
        if inline.kind == "a":
            if not inline.url:
                return
            if core == inline.url:
                marked = core
            else:
                marked = f"[{_balance(core)}]({inline.url})"
                inline.url = ""
                if inline.start and pieces[inline.start - 1][-1:] == ")":
                    # Links that a page sets apart by their boxes are not one word.
                    marked = " " + marked
        elif self.heading and inline.kind != "del":
            return
        else:
            mark = _MARKS[inline.kind]
            marked = mark + core + mark
        before = content[: len(content) - len(content.lstrip())]
        after = content[len(content.rstrip()) :]
        del pieces[inline.start :]
        if before:
            pieces.append(before)
        pieces.append(marked)
        if after:
            pieces.append(after)

    # -- blocks ---------------------------------------------------------------------------------------------------

    def block(self) -> None:
        """End the paragraph, if there is one; in a heading or a cell leave a blank between words."""
        if not self.pieces:
            return
        if self.flat or self.heading:
            self.pieces.append(" ")
        else:
            self.flush()

    def flush(self) -> None:
        """Write the pieces as one paragraph."""
        text = self._take()
        if not text:
            return
        if "\n" in text:
            lines = [escape_line(" ".join(line.split())) for line in text.split("\n")]
            self.put([line for line in lines if line])
        else:
            self.put([escape_line(" ".join(text.split()))])

    def end_heading(self) -> None:
        """Write the pieces as the heading that is open, if one is."""
        level = self.heading
        if level:
            text = " ".join(self._take().split())
            self.heading = 0
            self._force = None
            if text:
                self.put(["#" * level + " " + text])

    def _take(self) -> str:
        """The pieces as one text, "" if there is no word in them. What is open in them ends here and goes on after."""
        pieces = self.pieces
        if not pieces:
            return ""
        if self._open:
            if not "".join(pieces).isspace():
                for inline in reversed(self._open):
                    self._wrap(inline)
            for inline in self._open:
                inline.start = 0
        text = "".join(pieces)
        pieces.clear()
        return "" if text.isspace() else text

    def put(self, lines: list[str]) -> None:
        """Write finished lines as one block, a blank line before it unless something else was asked for."""
        gap = 2 if self._force is None else self._force
        self._force = None
        first = self._prefix if self._first is None else self._first
        out = self.lines
        if out and gap == 2:
            out.append(_shared(self._last, first).rstrip() if self._last and first else "")
        prefix = self._prefix
        if prefix or first:
            out.append(first + lines[0])
            out.extend([(prefix + line) if line else prefix.rstrip() for line in lines[1:]])
        else:
            out.extend(lines)
        self._first = None
        self._last = prefix

    def tight(self) -> None:
        """The next block follows without a blank line."""
        self._force = 1

    def push(self, marker: str, indent: str) -> None:
        """Begin a container: `marker` stands before its first line, `indent` before the others."""
        self._stack.append((self._prefix, self._first))
        if len(self._stack) > MAX_NESTING:
            return
        first = self._prefix if self._first is None else self._first
        if marker != indent or self._first is not None:
            self._first = first + marker
        self._prefix += indent

    def pop(self) -> None:
        """End the innermost container."""
        prefix, first = self._stack.pop()
        self._first = None if self._first is None else first
        self._prefix = prefix
        if len(self._last) > len(prefix):
            self._last = prefix


def _shared(one: str, other: str) -> str:
    """What two prefixes have in common."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return one[:at]
    return one if len(one) < len(other) else other


def _balance(text: str) -> str:
    """The text of a link, with brackets escaped unless each has its partner."""
    if "[" not in text and "]" not in text:
        return text
    depth = 0
    for char in text:
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth < 0:
                break
    return text if depth == 0 else text.replace("[", "\\[").replace("]", "\\]")
