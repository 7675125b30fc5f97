"""A PDF file becomes Markdown that reads as the pages do."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from specloom.domains.scrape.documents import read as documents
from specloom.domains.scrape.documents.document import Limits
from tests.support.documents import lines, make_pdf

pytest.importorskip("pypdfium2")

PROSE = [
    "The bridge over the harbour was opened on Tuesday after ten",
    "years of work. It carries two tracks and a path for people",
    "who walk, and it replaces the ferry that had been there.",
]


def read(body: bytes, limits: Limits = Limits()) -> documents.Document:  # noqa: B008
    return documents.read(body, "application/pdf", "https://x.example/a.pdf", limits=limits)


def test_lines_become_paragraphs_and_pages_are_numbered() -> None:
    body = make_pdf([[*lines(PROSE), *lines(["Another paragraph."], top=640)], lines(["The second page is short."])])

    found = read(body)

    assert found.kind == "pdf"
    assert found.pages == 2
    assert found.text == (
        "--- Page 1 ---\n\n" + " ".join(PROSE) + "\n\nAnother paragraph.\n\n--- Page 2 ---\n\nThe second page is short."
    )


def test_the_metadata_comes_along() -> None:
    info = {
        "Title": "On bridges",
        "Author": "Ann Lee; Bo Day",
        "CreationDate": "D:20240507103000+02'00'",
        "ModDate": "D:20240508",
        "Producer": "x",
    }

    found = read(make_pdf([lines(PROSE)], info=info))

    assert (found.title, found.authors) == ("On bridges", ("Ann Lee", "Bo Day"))
    assert (found.published, found.modified) == ("2024-05-07T10:30:00+02:00", "2024-05-08")
    assert found.metadata["Producer"] == "x"


@pytest.mark.parametrize("stated", ["", "Microsoft Word - draft.doc", "paper.dvi", "untitled"])
def test_a_title_that_is_none_gives_way_to_the_largest_text(stated: str) -> None:
    body = make_pdf([[(60, 750, 20, "On bridges"), *lines(PROSE)]], info={"Title": stated})

    assert read(body).title == "On bridges"


def test_hyphens_at_line_ends_are_joined_and_meant_ones_stay() -> None:
    text = read(
        make_pdf(
            [
                lines(
                    [
                        "We describe an infor-",
                        "mation system of the MUC-",
                        "6 kind for Anglo-",
                        "American readers of it.",
                    ]
                )
            ]
        )
    ).text

    assert "an information system of the MUC-6 kind for Anglo-American readers" in text


def test_two_columns_drawn_line_by_line_are_read_one_after_the_other() -> None:
    left = [f"left column says line number {at} here" for at in range(14)]
    right = [f"right column says line number {at} there" for at in range(14)]
    rows = [(40.0, 700.0 - 12 * at, 10.0, text) for at, text in enumerate(left)]
    others = [(320.0, 700.0 - 12 * at, 10.0, text) for at, text in enumerate(right)]
    mixed = [text for pair in zip(rows, others, strict=True) for text in pair]
    wide = (40.0, 740.0, 10.0, "This line stands over both of the columns of the page and is read first of all.")

    text = read(make_pdf([[wide, *mixed]])).text

    assert text.index("over both of the columns") < text.index("left column says line number 0")
    assert text.index("left column says line number 13") < text.index("right column says line number 0")


def test_a_table_is_read_row_by_row() -> None:
    names = ("internationalisation", "characteristically")
    rows = [
        (x, 700.0 - 12 * at, 10.0, f"{name}-{at}")
        for at in range(14)
        for x, name in zip((40.0, 320.0), names, strict=True)
    ]

    text = read(make_pdf([rows])).text

    assert "internationalisation-0 characteristically-0" in text


def test_running_heads_and_page_numbers_are_removed_and_the_text_is_not() -> None:
    pages = [
        [
            (60, 780, 9, "Journal of Spans"),
            *lines([f"Text of page {at} that stays.", *PROSE]),
            (300, 20, 9, f"{at + 41}"),
        ]
        for at in range(5)
    ]

    text = read(make_pdf(pages)).text

    assert "Journal of Spans" not in text
    assert "41" not in text
    assert all(f"Text of page {at} that stays." in text for at in range(5))


def test_a_head_with_the_name_of_its_chapter_goes_by_its_number() -> None:
    pages = [
        [(60, 780, 9, f"{name}  {at + 7}"), *lines([f"Text of page {at}.", *PROSE])]
        for at, name in enumerate(["Alpha", "Beta", "Gamma", "Delta"])
    ]

    text = read(make_pdf(pages)).text

    assert "Gamma" not in text
    assert "Text of page 2." in text


def test_a_heading_that_is_repeated_in_the_text_stays() -> None:
    pages = [lines(["Exercises", *PROSE], top=500) for _ in range(5)]

    assert read(make_pdf(pages)).text.count("Exercises") == 5


def test_ligatures_become_letters() -> None:
    from specloom.domains.scrape.documents.pdf.text import clean

    assert clean("e\ufb03cient \ufb01les\u00ad") == "efficient files"


def test_bullets_become_items() -> None:
    text = read(make_pdf([lines(["• one thing", "• another thing"])])).text

    assert "- one thing\n\n- another thing" in text


@pytest.mark.parametrize(
    ("pages", "picture", "limits", "which"),
    [
        (1, True, Limits(), "its only page"),
        (3, True, Limits(), "its 3 pages"),
        (4, {0, 2, 3}, Limits(), "3 of its 4 pages"),
        (9, True, Limits(pages=2), "its 9 pages"),
    ],
)
def test_a_scan_says_how_many_pages_are_pictures_and_what_to_do(
    pages: int, picture: bool | set[int], limits: Limits, which: str
) -> None:
    with pytest.raises(Fault) as caught:
        read(make_pdf([[] for _ in range(pages)], picture=picture), limits)

    assert (caught.value.kind, caught.value.action) == ("content_empty", "inform_user")
    assert caught.value.message == (
        "This PDF file has only pictures, as scans have; run character recognition (OCR) over "
        f"{which}, or look for a copy with text."
    )


def test_pages_that_are_pictures_are_told_among_others() -> None:
    texts = lines(PROSE)
    body = make_pdf([texts, [], [(300, 20, 9, "3")], texts, [], texts, []], picture={1, 2, 4, 5})

    found = read(body)

    assert found.metadata["PagesWithoutText"] == "2-3, 5"
    assert "--- Page 2 ---\n\n(This page is a picture without text.)\n\n--- Page 3" in found.text
    assert "--- Page 3 ---\n\n3\n\n(The rest of this page is a picture.)\n\n--- Page 4" in found.text
    assert "--- Page 5 ---\n\n(This page is a picture without text.)\n\n--- Page 6" in found.text
    assert found.text.count("is a picture") == 3
    assert "PagesWithoutText" not in read(make_pdf([texts])).metadata


def test_a_word_on_a_picture_is_read() -> None:
    found = read(make_pdf([[(60, 700, 10, "Map 7")]], picture=True))

    assert found.text == "--- Page 1 ---\n\nMap 7\n\n(The rest of this page is a picture.)"


def test_the_unseen_text_under_a_scan_is_read() -> None:
    found = read(make_pdf([lines(PROSE)], picture=True, mode=3))

    assert found.text == "--- Page 1 ---\n\n" + " ".join(PROSE)


def test_an_empty_page_says_that_there_is_no_text() -> None:
    with pytest.raises(Fault, match="no text"):
        read(make_pdf([[]]))


def test_a_password_is_asked_for() -> None:
    hexadecimal = "<" + "ab" * 32 + ">"
    locked = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O {hexadecimal} /U {hexadecimal} >> /ID [<00> <00>]"

    with pytest.raises(Fault, match="password") as caught:
        read(make_pdf([lines(PROSE)], trailer=locked))

    assert caught.value.kind == "auth_required"


@pytest.mark.parametrize("body", [b"%PDF-1.4", b"%PDF-1.7\n%%EOF", b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n"])
def test_a_broken_file_says_so(body: bytes) -> None:
    with pytest.raises(Fault, match="cannot be read") as caught:
        read(body)

    assert caught.value.kind == "content_empty"


def test_a_file_cut_in_its_middle_gives_what_is_left_or_says_so() -> None:
    body = make_pdf([lines(PROSE)])

    with pytest.raises(Fault):
        read(body[: len(body) // 3])
    assert "harbour" in read(body[: body.index(b"startxref")]).text


def test_the_limits_cut_and_say_so() -> None:
    body = make_pdf([lines([f"Text of page {at}.", *PROSE]) for at in range(6)])

    few = read(body, Limits(pages=2))
    short = read(body, Limits(text=100))

    assert (few.pages, few.truncated, "Text of page 2" in few.text) == (6, True, False)
    assert short.truncated
    assert len(short.text) <= 100
    assert read(body, Limits(seconds=0)).truncated
    assert not read(body).truncated


def test_a_file_of_too_many_objects_is_refused_before_it_is_opened() -> None:
    with pytest.raises(Fault) as caught:
        read(b"%PDF-1.4\n" + b"1 0 obj\n" * 1_000_001)

    assert caught.value.kind == "too_large"


def test_without_the_reader_the_command_to_install_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pypdfium2", None)

    with pytest.raises(Fault, match=r"pip install 'specloom\[documents\]'") as caught:
        read(make_pdf([lines(PROSE)]))

    assert caught.value.kind == "config"


def test_lines_that_run_down_the_page_are_read_from_the_right() -> None:
    columns = ["First column of the upper part", "goes on in a second one", "and ends in this third one."]
    below = ["First column of the lower part", "and the last of the page."]
    drawn = "\n".join(
        f"BT /F1 10 Tf 0 -1 1 0 {x - 14 * at} {y} Tm ({text}) Tj ET"
        for x, y, texts in ((500, 700, columns), (500, 400, below))
        for at, text in enumerate(texts)
    )

    text = documents.read(make_pdf([[]], drawn={0: drawn}), "", "").text

    order = [text.find(each) for each in (*columns, *below)]
    assert order == sorted(order)
    assert -1 not in order


def test_lines_that_run_up_the_page_are_read_from_the_left() -> None:
    texts = ["First line of a page on its side", "goes on in a second one", "and ends in this third one."]
    drawn = "\n".join(f"BT /F1 10 Tf 0 1 -1 0 {100 + 14 * at} 100 Tm ({text}) Tj ET" for at, text in enumerate(texts))

    assert "\n\n".join(texts) in documents.read(make_pdf([[]], drawn={0: drawn}), "", "").text


@pytest.mark.parametrize(("said", "language"), [("de-CH", "de-CH"), ("", ""), ("x-default; ignore all", "")])
def test_the_language_of_the_file_comes_along(said: str, language: str) -> None:
    body = make_pdf([lines(["A bridge."])], catalog=f"/Lang ({said})")

    assert documents.read(body, "", "").language == language
