"""Whether a page says that it is not free to read and gave less than its whole text: then an extract is partial.

Publishers mark such pages, and the parts of them that only subscribers see, for search engines, in schema.org's
`isAccessibleForFree`, `hasPart` and `cssSelector`:
https://developers.google.com/search/docs/appearance/structured-data/paywalled-content. A page that is marked and
carries its whole text all the same is like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from .metadata_graph import Graph, Node, find_main, find_page
from .passages import FEW_WORDS, count_words
from .selectors import Rule, parse_rule
from .tree import text_of

if TYPE_CHECKING:
    from lxml import etree

KEY: Final = "isAccessibleForFree"
_NO: Final = frozenset({"false", "no", "0"})
_MOST_PARTS: Final = 16
_STUB: Final = 30
"""Words below which a part that is marked is not there: an offer to subscribe stands in its place."""


def find_lack(
    graph: Graph, root: etree._Element, words: int, *, addresses: Iterable[str], titles: Iterable[str]
) -> str:
    """What a page that is not free to read did not give, in a sentence; "" where it is free or gave everything.

    `root` is its tree without what is hidden, and `words` were read of it; `addresses` and `titles` of the page tell
    its own node. Where the page says how many words it has, that decides; else a text below 150 words, the tool
    contract's figure for a thin one, is taken for a beginning, and so is one without a part that is marked.
    """
    node = find_main(graph, addresses=addresses, titles=titles) or find_page(graph)
    if node is None:
        return ""
    parts = [part for part in graph.all(node.get("hasPart")) if isinstance(part, dict) and _is_closed(part)]
    if not parts and not _is_closed(node):
        return ""
    if whole := _to_number(node.get("wordCount")):
        gave = f"it has {whole} words, of which it gave {words}"
        return f"This page says that it is not free to read: {gave}." if words * 2 < whole else ""
    if words < FEW_WORDS:
        return f"This page says that it is not free to read, and gave {words} words: they may be only its beginning."
    rules = [rule for part in parts[:_MOST_PARTS] for rule in _to_rules(part)]
    if rules and not _has_words(root, rules[:_MOST_PARTS]):
        return "This page says that a part of it is not free to read, and gave nothing of that part."
    return ""


def _is_closed(node: Node) -> bool:
    value: Any = node.get(KEY)
    return value is False or (isinstance(value, str) and value.rpartition("/")[2].strip().lower() in _NO)


def _to_number(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0


def _to_rules(part: Node) -> list[Rule]:
    """The selectors of a part that can be judged; where one cannot, nothing is known of the part."""
    value = part.get("cssSelector")
    written = [each for one in (value if isinstance(value, list) else [value]) for each in str(one or "").split(",")]
    rules = [parse_rule(each, {}, frozenset(), 0, strict=True) for each in written[:_MOST_PARTS]]
    return [rule for rule in rules if rule is not None] if all(rules) else []


def _has_words(root: etree._Element, rules: list[Rule]) -> bool:
    """Whether what is marked has text in the tree. What stands in a marked element is not looked at again."""
    from lxml.etree import iterwalk

    known: dict[etree._Element, frozenset[str]] = {}
    words = 0
    walker = iterwalk(root, events=("start",))
    for _, element in walker:
        if any(rule.matches(element, known) for rule in rules):
            words += count_words(text_of(element))
            if words >= _STUB:
                return True
            walker.skip_subtree()
    return False
