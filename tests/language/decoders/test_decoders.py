"""Bodies become documents, and bodies that are something else become faults that say what they are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.language.decoders.registry import DECODERS, decode


def answer(body: bytes | str, content_type: str = "") -> Response:
    raw = body if isinstance(body, bytes) else body.encode()
    return Response(200, {"content-type": content_type} if content_type else {}, raw)


def fault(name: str, body: bytes | str, options: dict[str, object] | None = None) -> Fault:
    with pytest.raises(Fault) as caught:
        decode(name, answer(body), options or {})
    return caught.value


def read(name: str, body: bytes | str, content_type: str = "", **options: object) -> object:
    return decode(name, answer(body, content_type), options)


PAGE = "<!DOCTYPE html>\n<html><head><title>Down for maintenance</title></head></html>"


# What every decoder owes


def test_every_decoder_says_what_it_reads_and_how_it_is_selected_from() -> None:
    assert set(DECODERS) >= {"json", "xml", "html", "tsv", "csv", "text"}
    for name, decoder in DECODERS.items():
        assert decoder.name == name
        assert decoder.doc.endswith(".")
        assert decoder.language == ("xpath" if name in ("xml", "html") else "jmespath")
        assert all(option.doc.endswith(".") for option in decoder.options.values())


def test_a_decoder_nobody_registered_is_named_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="unknown decoder 'yaml'; known: json"):
        decode("yaml", answer("a: 1"), {})


@pytest.mark.parametrize("name", ["json", "xml", "html", "tsv", "csv", "text"])
@pytest.mark.parametrize("body", [b"", b" \r\n\t", b"\xef\xbb\xbf\n", b"\0\0"])
def test_an_empty_body_is_an_upstream_that_failed(name: str, body: bytes) -> None:
    assert fault(name, body).kind == "upstream_unavailable"


@pytest.mark.parametrize(("name", "expected"), [("json", None), ("tsv", []), ("csv", []), ("text", {"text": ""})])
def test_an_empty_body_is_an_answer_where_the_spec_says_so(name: str, expected: object) -> None:
    assert read(name, b"", blank_ok=True) == expected


@pytest.mark.parametrize("name", ["json", "xml", "tsv", "csv"])
@pytest.mark.parametrize("body", [PAGE, "\n<!-- a --> <!-- b --><HTML lang=en>", f'<?xml version="1.0"?>\n{PAGE}'])
def test_a_page_where_data_was_asked_for_is_an_upstream_that_failed(name: str, body: str) -> None:
    found = fault(name, body)

    assert found.kind == "upstream_unavailable"
    assert found.message == f"the upstream answered with an HTML page where {name.upper()} was expected"
    assert found.detail.lower().startswith("<")


def test_many_comments_before_a_page_cost_no_time() -> None:
    assert fault("json", "<!---->" * 300 + "x").kind == "layout_changed"


@pytest.mark.parametrize("name", sorted(DECODERS))
@given(
    body=st.one_of(
        st.binary(),
        st.text().map(str.encode),
        st.sampled_from([b"{", b"<a>", b"<!--", b"\xff\xfe<", b"<?xml "]),
        st.binary().map(lambda b: b"<r>" + b),
    ),
    charset=st.sampled_from(
        ["", "utf-8", "utf-16", "zlib", "unicode_escape", "nonsense", "gbk", "iso-2022-jp", "utf-7"]
    ),
)
def test_any_body_is_read_or_is_a_fault(name: str, body: bytes, charset: str) -> None:
    try:
        decode(name, answer(body, f"text/x; charset={charset}"), {})
    except Fault as found:
        kind, detail = found.kind, found.detail
    else:
        kind, detail = "layout_changed", ""

    assert kind in ("layout_changed", "upstream_unavailable")
    assert len(detail) <= 80
    assert detail.isprintable()


# JSON


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    )
)
def test_json_comes_back_as_it_was_written(value: object) -> None:
    assert read("json", json.dumps(value)) == value
    assert read("json", json.dumps(value, ensure_ascii=False)) == value


def test_json_may_have_a_byte_order_mark() -> None:
    assert read("json", b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_of_a_repeated_key_the_last_value_counts() -> None:
    assert read("json", '{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('{"a": NaN}', "NaN is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("[1e999]", "1e999 is too large for a number"),
        ('{"a": [1, 2', "Expecting ',' delimiter"),
        (b'{"a": "\xe9"}', "byte 7 is not UTF-8"),
        ("[" * 100_000, "nested deeper than 200 levels"),
        ("[" * 400 + "]" * 400, "nested deeper than 200 levels"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested deeper than 200 levels"),
        ("9" * 5000, "Exceeds the limit"),
        ("<feed></feed>", "Expecting value"),
    ],
)
def test_what_is_not_json_is_a_changed_layout(body: bytes | str, why: str) -> None:
    found = fault("json", body)

    assert found.kind == "layout_changed"
    assert found.message.startswith("the answer cannot be read as JSON: ")
    assert why in found.message


def test_a_wide_document_is_not_a_deep_one() -> None:
    assert len(read("json", json.dumps([[[]]] * 1000))) == 1000  # type: ignore[arg-type]
    assert read("json", "[" * 200 + "]" * 200)


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_is_kept() -> None:
    assert read("json", r'["\ud83d\ude00", "a\ud83d", "\ude00\ud83d\ude00", "\\ud83d"]') == [
        "😀",
        "a�",
        "�😀",
        "\\ud83d",
    ]


def test_a_fault_shows_the_beginning_of_what_came() -> None:
    assert fault("json", "Too many\n\x00requests " * 20).detail == ("Too many requests " * 20)[:80]


# XML


def test_xml_is_its_root_element() -> None:
    root = read("xml", b'\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8"?><r a="1">\xc3\xa9<!-- x --><?y z?></r>')

    assert isinstance(root, etree._Element)
    assert (root.tag, root.text, root.get("a"), len(root)) == ("r", "é", "1", 0)


def test_xml_says_its_own_encoding() -> None:
    assert read("xml", b'<?xml version="1.0" encoding="ISO-8859-1"?><r>\xe9</r>').text == "é"  # type: ignore[attr-defined]
    assert read("xml", '<?xml version="1.0" encoding="UTF-16"?><r>é</r>'.encode("utf-16")).text == "é"  # type: ignore[attr-defined]


def test_a_doctype_without_entities_is_passed_over() -> None:
    body = '<!DOCTYPE r PUBLIC "-//X//DTD" "https://demo.invalid/r.dtd"><r>a&nbsp;<b/>&eacute;&unheard;t</r>'

    root = read("xml", body)

    assert etree.tostring(root, encoding="unicode", method="text") == "a\xa0ét"  # type: ignore[call-overload]


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))


@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>',
        '<!DOCTYPE r [<!ENTITY a "b">]><r/>',
        '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>',
        '<!DOCTYPE r [<!ENTITY % a SYSTEM "http://127.0.0.1:9/x">%a;]><r/>',
        f'<!DOCTYPE r [<!ENTITY e0 "x">{BOMB}]><r>&e8;</r>',
        f'<!DOCTYPE r [<!ENTITY e0 "x">{BOMB}]><r a="&e8;"/>',
        f'<!DOCTYPE r [<!ENTITY a "{"x" * 50_000}">]><r>{"&a;" * 5_000}</r>',
        '<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>'.encode("utf-16"),
    ],
)
def test_xml_that_declares_entities_is_refused(body: bytes | str) -> None:
    assert fault("xml", body).kind == "layout_changed"


@pytest.mark.parametrize(
    "body",
    [
        "<r>",
        "<r></s>",
        "{}",
        "<r/><s/>",
        "<r>&undeclared;</r>",
        "<a>" * 100_000,
        b"<r>\xff</r>",
        '<?xml version="1.0" encoding="nope"?><r/>',
    ],
)
def test_malformed_xml_is_a_changed_layout(body: bytes | str) -> None:
    found = fault("xml", body)

    assert found.kind == "layout_changed"
    assert found.message.startswith("the answer cannot be read as XML: ")


# HTML


def title(body: bytes, content_type: str = "text/html") -> object:
    return read("html", body, content_type).findtext(".//title")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<title>é€</title>".encode(), "text/html"),
        ("<title>é€</title>".encode(), "text/html; charset=UTF-8"),
        ("<title>é€</title>".encode("iso8859-15"), "text/html; charset='iso-8859-15'"),
        ("<title>é€</title>".encode("cp1252"), "text/html; charset=iso-8859-1"),
        ("<title>é€</title>".encode("cp1252"), "text/html"),
        ("<title>é€</title>".encode("utf-8-sig"), "text/html"),
        ("<title>é€</title>".encode("utf-8-sig"), "text/html; charset=utf8"),
        ("<title>é€</title>".encode("utf-16"), "text/html"),
        ('<meta charset="iso-8859-15"><title>é€</title>'.encode("iso8859-15"), "text/html"),
        ('<meta http-equiv="a" content="text/html; charset=iso-8859-15"><title>é€</title>'.encode("iso8859-15"), ""),
        ('<meta charset="iso-8859-15"><title>é€</title>'.encode(), "text/html; charset=utf-8"),
        ('<meta charset="utf-16"><title>é€</title>'.encode(), "text/html"),
        ("<title>é€</title>".encode(), "text/html; charset=unicode_escape"),
        ('<?xml version="1.0" encoding="latin1"?><html><title>é€</title></html>'.encode(), "text/html"),
        ("<title>é\0€</title>".encode(), "text/html"),
    ],
)  # fmt: skip
def test_the_encoding_of_a_page_is_found(body: bytes, content_type: str) -> None:
    assert title(body, content_type) == "é€"


def test_one_broken_byte_does_not_spoil_a_page_that_names_its_encoding() -> None:
    assert title(b"<title>\xc3\xa9 \xff</title>", "text/html; charset=utf-8") == "é �"


def test_a_fragment_is_a_page_too() -> None:
    root = read("html", "<div class='no-results'>No results.</div>")

    assert root.tag == "html"  # type: ignore[attr-defined]
    assert root.findtext(".//div") == "No results."  # type: ignore[attr-defined]


@pytest.mark.parametrize("body", ['{"error": "no"}', "1 < 2", "<!-- nothing but a note -->"])
def test_what_has_no_element_is_no_page(body: str) -> None:
    assert fault("html", body).kind == "layout_changed"


# Tables


def test_tsv_is_rows_by_column_name() -> None:
    body = '\ufeff"title"\t "code" \t"type"\t"updated"\r\n"    Rate"\t"une"\t"dataset"\t" "\r\n\r\nShort "x" row\ty\n'

    assert read("tsv", body) == [
        {"title": "Rate", "code": "une", "type": "dataset", "updated": None},
        {"title": 'Short "x" row', "code": "y", "type": None, "updated": None},
    ]


def test_a_quote_that_is_never_closed_ends_with_its_line_in_tsv() -> None:
    assert read("tsv", 'a\tb\n"x\ty\nz\tw') == [{"a": '"x', "b": "y"}, {"a": "z", "b": "w"}]


def test_csv_cells_may_hold_commas_quotes_and_line_ends() -> None:
    assert read("csv", 'id, name \r\n1,"a, ""b""\nc"\r\n2, "d"\r\n') == [
        {"id": "1", "name": 'a, "b"\nc'},
        {"id": "2", "name": "d"},
    ]


def test_a_table_may_come_without_a_header() -> None:
    assert read("csv", "1,2\n3", header=False) == [{"c1": "1", "c2": "2"}, {"c1": "3", "c2": None}]
    assert read("csv", "1;2", header=False, columns=["a", "b"], delimiter=";") == [{"a": "1", "b": "2"}]


def test_a_spec_may_rename_the_columns_of_a_header() -> None:
    assert read("tsv", "A\tB\n1\t2\t3", columns=["x", "y"]) == [{"x": "1", "y": "2"}]


def test_columns_with_one_name_or_none_stay_apart() -> None:
    assert read("csv", "a,,a,a_3\n1,2,3,4") == [{"a": "1", "c2": "2", "a_3": "3", "a_3_4": "4"}]


def test_a_header_alone_is_a_table_without_rows() -> None:
    assert read("csv", "a,b\n") == []


@pytest.mark.parametrize("name", ["tsv", "csv"])
def test_a_first_line_without_a_delimiter_is_a_changed_layout(name: str) -> None:
    assert fault(name, "Service temporarily unavailable").kind == "layout_changed"
    assert read(name, "id\n1", columns=["id"]) == [{"id": "1"}]


def test_a_csv_cell_without_an_end_is_a_changed_layout() -> None:
    assert fault("csv", 'a,b\n"' + "x" * 200_000).kind == "layout_changed"


# Text


def test_text_is_one_item() -> None:
    assert read("text", "\ufeffa\r\nb\rc") == {"text": "a\nb\nc"}
    assert read("text", "é".encode("cp1252"), "text/plain; charset=latin-1") == {"text": "é"}
    assert DECODERS["text"].item == {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
