"""Selectors into XML and HTML: XPath 1.0 whose every name is known before it runs, and values that are clean text.

The core functions of XPath and `has-class('x')` exist, and nothing else: no variables, no extension functions, no way
to a file or the network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from math import inf, isfinite
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from specloom.core import Fault, dataclass

# --- What a selector found as a clean value: text with single blanks as a reader sees it, a number or a boolean -------


Value: TypeAlias = str | int | float | bool


def to_value(raw: Any) -> Value | None:
    """The clean value of what a selector found: text with single blanks, a number or a boolean; None when empty."""
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, int | float):
        if not isfinite(raw):
            return None
        return int(raw) if raw == int(raw) and abs(raw) < 2**53 else raw
    if isinstance(raw, str):
        return " ".join(raw.split()) or None
    return " ".join(_text(raw).split()) or None if hasattr(raw, "itertext") else None


_UNSEEN: Final = frozenset({"script", "style"})
_BLOCKS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "footer",
        "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "option", "p", "pre",
        "section", "table", "td", "th", "tr", "ul",
    }
)  # fmt: skip


def _text(node: Any) -> str:
    """The text of an element and all below it, without comments and processing instructions."""
    if not len(node):
        return node.text or ""
    # Only elements of the HTML parser have `text_content`; elsewhere a <style> or a <p> can mean anything.
    if hasattr(node, "text_content"):
        return "".join(_html_text(node))
    return "".join(node.xpath("descendant::text()", smart_strings=False))


def _html_text(node: Any) -> Iterator[str]:
    """Pieces of text as a reader sees them: no scripts, and a blank where a block begins or ends."""
    from lxml import etree

    for event, part in etree.iterwalk(node, events=("start", "end", "comment", "pi")):
        tag = part.tag
        if event == "start":
            if tag in _BLOCKS:
                yield " "
            if part.text and (tag not in _UNSEEN or part is node):
                yield part.text
            continue
        if event == "end" and tag in _BLOCKS:
            yield " "
        if part.tail and part is not node:
            yield part.tail


Kind: TypeAlias = Literal["nodes", "text", "number", "boolean"]

FUNCTIONS: Final[Mapping[str, tuple[int, float]]] = MappingProxyType(
    {
        "last": (0, 0), "position": (0, 0), "count": (1, 1), "id": (1, 1),
        "local-name": (0, 1), "namespace-uri": (0, 1), "name": (0, 1),
        "string": (0, 1), "concat": (2, inf), "starts-with": (2, 2), "contains": (2, 2),
        "substring-before": (2, 2), "substring-after": (2, 2), "substring": (2, 3),
        "string-length": (0, 1), "normalize-space": (0, 1), "translate": (3, 3),
        "boolean": (1, 1), "not": (1, 1), "true": (0, 0), "false": (0, 0), "lang": (1, 1),
        "number": (0, 1), "sum": (1, 1), "floor": (1, 1), "ceiling": (1, 1), "round": (1, 1),
        "has-class": (1, 1),
    }
)  # fmt: skip
"""Every function a selector may call, with the least and the greatest number of its arguments."""

_TOKEN: Final = re.compile(
    r"""(?:(?<!\s)\s++)?(?:
      (?P<literal>"[^"]*"|'[^']*')
    | (?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)
    | (?P<name>[^\W\d][\w.-]*(?::(?!:)(?:[^\W\d][\w.-]*|\*))?)
    | (?P<sign>//|::|\.\.|!=|<=|>=|[][/@().,|+=<>*$-])
    | (?P<end>$)
    )""",
    re.VERBOSE,
)
_NODE_TESTS: Final = frozenset({"text", "node", "comment", "processing-instruction"})
_AXES: Final = frozenset(
    {
        "ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self", "following",
        "following-sibling", "parent", "preceding", "preceding-sibling", "self",
    }
)  # fmt: skip
_OPERATORS: Final = frozenset({"and", "or", "mod", "div"})
# After one of these a name is a name and a star is a wildcard; after anything else they are operators (XPath 1.0, 3.7).
_OPENERS: Final = frozenset(
    {"@", "::", "(", "[", ",", "/", "//", "|", "+", "-", "=", "!=", "<", "<=", ">", ">=", "operator"}
)
_CLOSES: Final = {")": "(", "]": "["}
_LONGEST: Final = 4096


class XPathProblem(Exception):  # noqa: N818 - it becomes a diagnostic, which is not an error of the program
    """A selector that cannot be used: E201 not XPath, E202 unknown prefix or variable, E203 unknown function."""

    def __init__(self, code: str, message: str, offset: int, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.offset = offset
        self.hint = hint


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class XPath:
    """A compiled selector. `kind` says what it yields; `absolute` that it starts at the document and not at the row."""

    text: str
    kind: Kind
    absolute: bool
    _evaluate: Any

    def nodes(self, node: Any) -> list[Any]:
        """What is selected, raw: elements and strings in document order, or the one computed value."""
        found = self._run(node)
        return found if isinstance(found, list) else [found]

    def first(self, node: Any) -> Value | None:
        """The first selected value that is not empty, or None."""
        return next(self._values(node), None)

    def all(self, node: Any) -> list[Value]:
        """Every selected value that is not empty."""
        return list(self._values(node))

    def test(self, node: Any) -> bool:
        """Whether anything is selected, or the computed value is true."""
        return bool(self._run(node))

    def _values(self, node: Any) -> Iterator[Value]:
        return (value for raw in self.nodes(node) if (value := to_value(raw)) is not None)

    def _run(self, node: Any) -> Any:
        if isinstance(node, str):  # an item that is itself an attribute or a piece of text
            if self.text.strip() in (".", "string(.)", "string()"):
                return [node]
            raise Fault("internal", f"the selector {self.text!r} looks into {node[:40]!r}, which is text without parts")
        from lxml import etree

        try:
            return self._evaluate(node)
        except etree.XPathError as error:
            raise Fault("internal", f"the selector {self.text!r} cannot be evaluated: {error}") from error


def compile_xpath(text: str, namespaces: Mapping[str, str] = MappingProxyType({})) -> XPath:
    """The selector, ready to use; a problem in it is raised as XPathProblem with the offset where it lies."""
    from lxml import etree

    if len(text) > _LONGEST:
        raise XPathProblem("E201", f"the selector is longer than {_LONGEST} characters", _LONGEST)
    tokens = list(_tokens(text))
    for name, sign in pairwise(tokens):
        if sign.text == "::" and name.text not in _AXES:
            raise XPathProblem("E201", f"unknown axis {name.text!r}", name.start, _suggest(name.text, _AXES))
    try:
        etree.XPath(text, regexp=False)
    except etree.XPathError as error:
        log = getattr(error, "error_log", None)
        offset = min(max((entry.column for entry in log), default=0), len(text)) if log else 0
        raise XPathProblem("E201", f"this is not XPath: {_excerpt(text, offset)}", offset) from error
    except ValueError as error:  # control characters and NUL, which no XML can hold
        raise XPathProblem("E201", "a selector cannot hold control characters", 0) from error
    _check_names(tokens, namespaces)
    run = etree.XPath(
        _expand_has_class(text, tokens), namespaces=dict(namespaces) or None, regexp=False, smart_strings=False
    )
    try:
        # The type of an XPath expression does not depend on the document, so any element tells it.
        sample = run(etree.Element("sample"))
    except etree.XPathError as error:
        raise XPathProblem("E201", f"this XPath cannot be evaluated: {error}", 0) from error
    return XPath(text, _kind(sample), tokens[0].text in ("/", "//"), run)


def defer_xpath(text: str, namespaces: Mapping[str, str] = MappingProxyType({})) -> Callable[[], XPath]:
    """What gives the selector, compiled when it is first asked for: lxml takes 5 MB, and few calls read trees.

    For selectors that were compiled before; one that has become unusable since is a Fault.
    """

    @cache
    def compiled() -> XPath:
        try:
            return compile_xpath(text, namespaces)
        except XPathProblem as problem:
            raise Fault("internal", f"the selector {text!r} cannot be used: {problem.message}") from None

    return compiled


def _tokens(text: str) -> Iterator[_Token]:
    at, open_brackets = 0, list[_Token]()
    while True:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            quote = text[start] in "'\""
            what = "a quote is never closed" if quote else f"{text[start]!r} has no meaning in XPath"
            raise XPathProblem("E201", what, start)
        kind, start = match.lastgroup, match.start(match.lastgroup)
        token = _Token(kind, match[kind], start, match.end())
        if kind == "sign" and token.text in "([":
            open_brackets.append(token)
        elif (
            kind == "sign"
            and token.text in _CLOSES
            and (not open_brackets or open_brackets.pop().text != _CLOSES[token.text])
        ):
            raise XPathProblem("E201", f"{token.text!r} closes nothing", start)
        if kind == "end":
            if open_brackets:
                raise XPathProblem("E201", f"{open_brackets[-1].text!r} is never closed", open_brackets[-1].start)
            if not text.strip():
                raise XPathProblem("E201", "the selector is empty", 0)
            yield token
            return
        yield token
        at = match.end()


def _check_names(tokens: list[_Token], namespaces: Mapping[str, str]) -> None:
    before = "("
    for position, token in enumerate(tokens):
        after = tokens[min(position + 1, len(tokens) - 1)].text
        operator = before not in _OPENERS and (token.text == "*" or token.text in _OPERATORS)
        if token.text == "$" and token.kind == "sign":
            raise XPathProblem("E202", "a selector has no variables", token.start)
        if token.kind == "name" and not operator and after != "::":
            if after == "(" and token.text not in _NODE_TESTS:
                _check_call(tokens, position)
            prefix, colon, _ = token.text.partition(":")
            if colon and prefix != "xml" and prefix not in namespaces:
                raise XPathProblem(
                    "E202", f"unknown namespace prefix {prefix!r}", token.start,
                    _suggest(prefix, namespaces) or f"declare it: namespaces: {{{prefix}: <the namespace's URI>}}",
                )  # fmt: skip
        before = "operator" if operator else token.text if token.kind == "sign" and token.text != "*" else "operand"


def _check_call(tokens: list[_Token], position: int) -> None:
    name = tokens[position]
    if name.text not in FUNCTIONS:
        raise XPathProblem("E203", f"unknown function {name.text!r}", name.start, _suggest(name.text, FUNCTIONS))
    least, most = FUNCTIONS[name.text]
    given = _count_arguments(tokens, position + 1)
    if not least <= given <= most:
        wanted = f"{least}" if least == most else f"{least} or more" if most == inf else f"{least} to {most}"
        raise XPathProblem("E203", f"{name.text}() takes {wanted} arguments, not {given}", name.start)
    if name.text == "has-class":
        argument = tokens[position + 2]
        if argument.kind != "literal" or tokens[position + 3].text != ")" or len(argument.text[1:-1].split()) != 1:
            raise XPathProblem("E203", "has-class() takes one class name in quotes", argument.start)


def _count_arguments(tokens: list[_Token], opening: int) -> int:
    if tokens[opening + 1].text == ")":
        return 0
    depth, commas = 0, 0
    for token in tokens[opening:]:
        if token.kind != "sign":
            continue
        depth += (token.text in "([") - (token.text in ")]")
        commas += token.text == "," and depth == 1
        if depth == 0:
            break
    return commas + 1


def _expand_has_class(text: str, tokens: list[_Token]) -> str:
    """The selector with `has-class` spelled out in core XPath, which is evaluated without a call back into Python."""
    parts, at = list[str](), 0
    for position, token in enumerate(tokens):
        if token.kind == "name" and token.text == "has-class" and tokens[position + 1].text == "(":
            literal, closing = tokens[position + 2], tokens[position + 3]
            quote, name = literal.text[0], literal.text[1:-1].strip()
            spelled = f"contains(concat(' ', normalize-space(@class), ' '), {quote} {name} {quote})"
            parts += [text[at : token.start], spelled]
            at = closing.end
    return "".join([*parts, text[at:]])


def _kind(sample: object) -> Kind:
    if isinstance(sample, list):
        return "nodes"
    if isinstance(sample, bool):
        return "boolean"
    return "text" if isinstance(sample, str) else "number"


def _excerpt(text: str, offset: int) -> str:
    rest = text[offset : offset + 20].strip()
    return f"something is wrong at {rest!r}" if rest else "something is missing at the end"


def _suggest(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.7)
    return f'did you mean "{near[0]}"?' if near else ""
