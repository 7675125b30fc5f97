"""Elements of a page become Markdown: headings, lists, links, code, quotes and tables, in document order.

The walk is iterative and each text is copied a bounded number of times, so time is linear in the size of the page.
Choices that a reader of the output may want to know:

- a line break in a paragraph is a line end, and a second one in a row ends the paragraph;
- a link around several blocks stands at the first that has words;
- images are kept if they are described;
- `<sup>` puts a caret before a number (`10^6`), and `<sub>` nothing (`H2O`);
- the text of a page is escaped where it would read as structure, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from . import blocks, inline  # noqa: F401 - they register what begins and ends within a line
from .blocks import find_plain
from .walk import Links, MarkdownWalk
from .writer import MarkdownWriter

if TYPE_CHECKING:
    from lxml import etree


def render(nodes: Sequence[etree._Element], *, base: str = "", drop: Collection[etree._Element] = ()) -> str:
    """Markdown of the elements in the order given, each once; those in `drop` are left out with what is in them.

    `base` is the address that links are resolved against; without it relative links keep their text alone.
    """
    chosen = set(nodes)
    outermost = [node for node in nodes if not any(above in chosen for above in node.iterancestors())]
    walk = MarkdownWalk(MarkdownWriter(), Links(base), frozenset(drop), find_plain(outermost))
    for node in outermost:
        walk.run(node)
        walk.out.end_heading()
        walk.out.flush()
        walk.lists.clear()
    return "\n".join(walk.out.lines)
