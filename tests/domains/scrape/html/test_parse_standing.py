"""Elements that stand in a tree are told from those that were taken out of it, whoever asks first."""

from __future__ import annotations

from itertools import permutations

from specloom.domains.scrape.html.parse import parse, to_standing


def test_what_was_taken_out_stands_no_longer_and_neither_does_what_is_in_it() -> None:
    root = parse("<div><p>one <b>two</b></p><ul><li>three</ul></div>")
    paragraph, bold, item = (next(root.iter(tag)) for tag in ("p", "b", "li"))
    above = paragraph.getparent()
    assert above is not None
    above.remove(paragraph)

    for order in permutations((root, above, paragraph, bold, item)):
        stands = to_standing(root)
        told = {element: stands(element) for element in order}
        assert told == {root: True, above: True, paragraph: False, bold: False, item: True}
        assert told == {element: stands(element) for element in order}
