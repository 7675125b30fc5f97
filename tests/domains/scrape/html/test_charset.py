"""Bytes become text by the charset that fits them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.html.charset import decode, find_codec

SENTENCES = {
    "windows-1251": "Москва — столица России, город федерального значения, в нём живут миллионы людей.",
    "koi8-r": "Река течёт на север, и зимой её лёд бывает толще метра, а весной он ломается.",
    "windows-1253": "Η πόλη είναι χτισμένη στις όχθες του ποταμού και έχει πολλούς κατοίκους.",
    "windows-1255": "העיר הזאת עתיקה מאוד, ויש בה שווקים, מוזיאונים וגנים רבים לאורך הנהר.",
    "windows-1256": "تقع المدينة على ضفة النهر وهي من أقدم المدن في هذه المنطقة من العالم.",
    "shift_jis": "この町は川のほとりにあり、古い寺と新しい駅がならんでいます。",
    "euc-jp": "冬になると湖は凍り、子どもたちは学校のあとでそこで遊びます。",
    "iso-2022-jp": "駅から寺まで歩いて十分ほどかかります。",
    "euc-kr": "이 도시는 강가에 자리하고 있으며 오래된 시장과 새로운 역이 나란히 있다.",
    "gbk": "这座城市坐落在河边，有古老的市场，也有新建的车站和学校。",
    "big5": "這座城市坐落在河邊，有古老的市場，也有新建的車站和學校。",
    "windows-1250": "Miasto leży nad rzeką, a jego najstarsza część ma żółte domy, wąskie ulice i źródła wody.",
    "windows-1252": "L’hôtel est situé près du château ; l’été, les élèves y mangent une crème brûlée à 5 €.",
    "iso-8859-1": "Die Straße führt über die Brücke nach Süden, schöne Häuser säumen das Ufer.",
    "utf-8": "Ærø ligger mellem Fyn og Als — øen har omkring 6000 indbyggere. 日本語も。",
}


@pytest.mark.parametrize(("charset", "sentence"), SENTENCES.items())
@pytest.mark.parametrize(
    ("content_type", "meta"),
    [
        ("text/html; charset={}", ""),
        ('text/html;charset="{}"', ""),
        ("text/html", "<meta charset={}>"),
        ("", '<meta http-equiv="Content-Type" content="text/html; charset={}">'),
        ("", ""),
    ],
    ids=["header", "quoted header", "meta", "http-equiv", "detected"],
)
def test_a_page_is_read_in_its_charset(charset: str, sentence: str, content_type: str, meta: str) -> None:
    page = f"<html><head>{meta.format(charset)}<title>x</title></head><body><p>{sentence}</p></body></html>"

    decoded = decode(page.encode(charset), content_type.format(charset))

    assert sentence in decoded.text
    assert decoded.certain or (not content_type and not meta)


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_wins_over_everything_and_is_left_out(charset: str) -> None:
    decoded = decode("<p>für".encode(charset), "text/html; charset=windows-1251")

    assert decoded.text == "<p>für"
    assert decoded.certain


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_known_by_its_zeros(charset: str) -> None:
    decoded = decode("<html><p>für alle".encode(charset))

    assert decoded.text == "<html><p>für alle"
    assert not decoded.certain


def test_valid_utf_8_is_utf_8_whatever_the_header_says() -> None:
    decoded = decode("<p>für — alle".encode(), "text/html; charset=iso-8859-1")

    assert decoded.text == "<p>für — alle"


def test_a_declaration_that_does_not_fit_gives_way_to_the_bytes() -> None:
    decoded = decode(SENTENCES["windows-1251"].encode("cp1251"), "text/html; charset=utf-8")

    assert decoded.text == SENTENCES["windows-1251"]
    assert not decoded.certain


FOREIGN = [charset for charset in SENTENCES if not charset.startswith(("utf", "iso", "windows-1250", "windows-1252"))]


@pytest.mark.parametrize("label", ["iso-8859-1", "windows-1252", "us-ascii"])
@pytest.mark.parametrize("charset", FOREIGN)
def test_another_alphabet_is_not_western_whatever_is_declared(charset: str, label: str) -> None:
    page = (
        f"<html><head><title>x</title></head><body><p>{SENTENCES[charset]}</p><p>{SENTENCES[charset]}</p></body></html>"
    )

    decoded = decode(page.encode(charset), f"text/html; charset={label}")

    assert SENTENCES[charset] in decoded.text
    assert not decoded.certain


@pytest.mark.parametrize("text", ["«…»“”" * 2, "ÄÖÜÄÖÜ", "Über «Ärö»… — “Éé” " * 9])
def test_marks_and_few_letters_in_a_row_leave_a_western_page_western(text: str) -> None:
    page = f"<p>Die Straße führt über die Brücke nach Süden, schöne Häuser säumen das Ufer. {text}</p>"

    decoded = decode(page.encode("windows-1252"), "text/html; charset=windows-1252")

    assert decoded.text == page
    assert decoded.certain


def test_the_page_is_believed_where_the_header_is_wrong() -> None:
    page = f"<meta charset=windows-1251><p>{SENTENCES['windows-1251']}".encode("cp1251")

    assert SENTENCES["windows-1251"] in decode(page, "text/html; charset=utf-8").text


def test_one_damaged_character_does_not_turn_a_page_of_utf_8_into_another_charset() -> None:
    body = SENTENCES["utf-8"].encode() * 10 + b"\xff" + SENTENCES["utf-8"].encode()

    decoded = decode(body, "text/html; charset=utf-8")

    assert decoded.charset == "utf-8"
    assert decoded.text.count("\ufffd") == 1


def test_a_character_cut_by_the_end_of_the_body_is_left_out() -> None:
    body = ("<p>" + "日本" * 50).encode()[:-1]

    decoded = decode(body)

    assert decoded.charset == "utf-8"
    assert "\ufffd" not in decoded.text


def test_a_declaration_in_a_comment_counts_for_nothing() -> None:
    body = f"<!-- <meta charset=koi8-r> --><p>{SENTENCES['windows-1251']}".encode("cp1251")

    assert SENTENCES["windows-1251"] in decode(body).text


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("ISO-8859-1", "cp1252"),
        (" latin1 ", "cp1252"),
        ("us-ascii", "cp1252"),
        ("gb2312", "gb18030"),
        ("x-sjis", "cp932"),
        ("ks_c_5601-1987", "cp949"),
        ("iso88595", "iso8859-5"),
        ("TIS-620", "cp874"),
        ("utf8", "utf-8"),
        ("unicode", "utf-16-le"),
    ],
)
def test_labels_mean_what_they_mean_to_browsers(label: str, codec: str) -> None:
    assert find_codec(label) == codec


@pytest.mark.parametrize("label", ["utf-7", "rot13", "hex", "base64", "idna", "punycode", "nonsense", "unicode_escape"])
def test_codecs_that_are_no_charset_of_pages_are_not_used(label: str) -> None:
    assert find_codec(label) is None
    assert decode(b"+ADw-b+AD4-", f"text/html; charset={label}").text == "+ADw-b+AD4-"


@given(st.binary(max_size=400), st.text(max_size=40))
def test_any_bytes_become_text(body: bytes, content_type: str) -> None:
    decoded = decode(body, content_type)

    assert len(decoded.text) <= len(body) + 1
