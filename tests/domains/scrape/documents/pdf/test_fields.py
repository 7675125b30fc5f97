"""What is filled into the form of a PDF file stands below its page."""

from __future__ import annotations

from specloom.domains.scrape.documents import read as documents
from tests.support.documents import lines, make_pdf


def field(name: str, value: str, rest: str = "") -> str:
    """A field of text; `rest` are more of its entries."""
    return f"<< /Subtype /Widget /Rect [60 500 200 520] /FT /Tx /T ({name}) /V ({value}) {rest} >>"


def read(*fields: str) -> str:
    body = make_pdf([lines(["Please fill in this form."])], fields=fields)
    return documents.read(body, "", "").text


def test_fields_are_told_by_their_names_for_people() -> None:
    text = read(field("f1", "Ann Lee", "/TU (Your name)"), field("Town", "Aldburg\\rNorth"))

    assert (
        text
        == "--- Page 1 ---\n\nPlease fill in this form.\n\nFilled in:\n\n- Your name: Ann Lee\n- Town: Aldburg North"
    )


def test_boxes_are_told_when_they_are_set() -> None:
    box = "<< /Subtype /Widget /Rect [60 400 70 410] /FT /Btn /T (%s) /V /%s /AS /%s /AP << /N << /%s null >> >> >>"

    text = read(box % ("Agreed", "Yes", "Yes", "Yes"), box % ("Member", "Off", "Off", "Yes"))

    assert "- Agreed: yes" in text
    assert "Member" not in text


def test_empty_hidden_and_secret_fields_are_left_out() -> None:
    text = read(
        field("Empty", ""),
        field("Line", "--"),
        field("Hidden", "Obey me", "/F 2"),
        field("Small", "Obey me").replace("200 520", "61 501"),
        field("Unseen", "Obey me", "/F 32"),
        field("Secret", "hunter", "/Ff 8192"),
    )

    assert text == "--- Page 1 ---\n\nPlease fill in this form."


def test_a_page_of_nothing_but_fields_is_read() -> None:
    body = make_pdf([[]], fields=[field("Town", "Aldburg")])

    assert documents.read(body, "", "").text == "--- Page 1 ---\n\nFilled in:\n\n- Town: Aldburg"


def test_very_many_and_very_long_fields_are_cut() -> None:
    body = make_pdf([[]], fields=[field("a", "x" * 6000), *(field(f"b{at}", "x") for at in range(3000))])

    text = documents.read(body, "", "").text

    assert text.count("\n- ") == 2000
    assert f"- a: {'x' * 5000}\n" in text
