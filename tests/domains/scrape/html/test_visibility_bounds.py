"""A page beyond a bound of the judge of hidden text is read, and what the judge does not come to counts as seen."""

from __future__ import annotations

import pytest

from specloom.domains.scrape.html import css_declarations, css_selectors, visibility
from specloom.domains.scrape.html import sanitise as sanitising
from specloom.domains.scrape.html.parse import parse
from specloom.domains.scrape.html.sanitise import sanitise
from specloom.domains.scrape.markdown.render import render


def is_read(body: str, sheet: str = "") -> bool:
    root = parse(f"<html><head><style>{sheet}</style></head><body><p>Seen.</p>{body}</body></html>")
    sanitise(root)
    text = render([root])
    assert "Seen." in text
    return "SECRET" in text


X = "<p class=x>SECRET</p>"


@pytest.mark.parametrize(
    ("most", "page"),
    [
        pytest.param(
            css_declarations.MAX_STYLE,
            lambda size: (f'<p style="{"a" * (size - 15)}:b;display:none">SECRET</p>', ""),
            id="a style of its own",
        ),
        pytest.param(
            css_declarations.MAX_STYLE,
            lambda size: (X, f".x{{{'a' * (size - 15)}:b;display:none}}"),
            id="the declarations of a rule",
        ),
        pytest.param(
            css_selectors.MAX_SELECTOR,
            lambda size: (f"<p id={'y' * (size - 3)} class=x>SECRET</p>", f"#{'y' * (size - 3)}.x{{display:none}}"),
            id="a selector",
        ),
        pytest.param(
            visibility.MAX_SHEET,
            lambda size: (X, f".x{{display:none}}{' ' * (size - 16)}"),
            id="a sheet",
        ),
        pytest.param(
            css_selectors.MAX_CLIMB,
            lambda count: (f"<div class=o>{'<b>' * (count - 1)}<i class=x>SECRET</i>", ".o .x{display:none}"),
            id="elements between two steps of a selector",
        ),
        pytest.param(
            css_selectors.MAX_CLIMB,
            lambda count: (f"<i class=o></i>{'<i></i>' * (count - 1)}{X}", ".o~.x{display:none}"),
            id="elements beside one another",
        ),
        pytest.param(
            visibility.MAX_RULES,
            lambda count: (X, f"{'p{margin:0}' * count}.x{{display:none}}"),
            id="rules",
        ),
        pytest.param(
            visibility.MAX_NESTED,
            lambda count: (X, f"body{{{','.join(['.y'] * (count - 1))},.x{{display:none}}}}"),
            id="selectors of a rule in a rule",
        ),
        pytest.param(
            visibility.MAX_NESTED,
            lambda count: (X, f":is({','.join(['.y'] * (count - 1))},.x){{display:none}}"),
            id="alternatives of a selector",
        ),
        pytest.param(
            visibility.MAX_ASKED,
            lambda count: (
                "<p data-z>SECRET</p>",
                "".join(f"[data-a{at}]{{display:none}}" for at in range(count - 1)) + "[data-z]{display:none}",
            ),
            id="attributes that rules ask for alone",
        ),
    ],
)
def test_what_is_beyond_a_bound_is_passed_over(most: int, page: object) -> None:
    assert callable(page)

    assert not is_read(*page(most))
    assert is_read(*page(most + 1))


def test_rules_are_tried_so_often_and_then_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    body, sheet = f"<div class=y>a</div>{X}", ".x,.y{display:none}"
    assert not is_read(body, sheet)

    monkeypatch.setattr(visibility, "MAX_TRIALS", 1)

    assert is_read(body, sheet)


def test_elements_in_hidden_ones_are_looked_at_so_often_and_then_count_as_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = '<div style="font-size:0">a<b>b</b><i style="font-size:16px">SECRET</i></div>'
    assert is_read(body)

    monkeypatch.setattr(visibility, "MAX_LOOKS", 1)

    assert not is_read(body)


def test_names_above_an_element_leave_out_rules_up_to_a_count_and_then_each_is_tried() -> None:
    names = " ".join(f"n{at}" for at in range(visibility.MAX_LINEAGE + 1))
    sheet = ".o .x{display:none}.p .x{display:block}"

    assert not is_read(f'<div class="o {names}">{X}</div>', sheet)
    assert is_read(f'<div class="o p {names}">{X}</div>', sheet)


def test_steps_that_are_the_same_are_asked_once_and_many_others_still_hide() -> None:
    sheet = "".join(f".a{at} p.x.y{at}{{display:none}}" for at in range(visibility.MAX_LASTS + 10))
    last = visibility.MAX_LASTS + 9

    assert not is_read(f"<div class=a{last}><p class='x y{last}'>SECRET</p></div>", sheet)


def test_hidden_elements_beyond_a_count_are_taken_out_unlooked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "<p hidden>a</p><div role=tabpanel hidden>SECRET</div>"
    assert is_read(body)

    monkeypatch.setattr(sanitising, "MAX_JUDGED", 1)

    assert not is_read(body)


def test_so_many_elements_in_one_another_may_be_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "SECRET words. " * 200
    body = f"<div hidden><div hidden>{words}</div></div>"
    assert is_read(body)

    monkeypatch.setattr(sanitising, "MAX_PAGES", 1)

    assert not is_read(body)
