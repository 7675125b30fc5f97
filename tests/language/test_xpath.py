"""Selectors into XML and HTML: what they find, and how they fail before they run."""

from __future__ import annotations

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from specloom.core.faults import Fault
from specloom.language.xpath import FUNCTIONS, XPathProblem, compile_xpath, defer_xpath

ATOM = {"a": "http://www.w3.org/2005/Atom"}
FEED = etree.fromstring(
    b'<feed xmlns="http://www.w3.org/2005/Atom"><entry n="7"><title>A\n   long <i>title</i></title><!-- no --><?no no?>'
    b"<author><name>A B</name></author><author><name> </name></author><author><name>C D</name></author></entry></feed>"
)
PAGE = lxml.html.document_fromstring(
    "<div class='result  big'><a class='result__a' href=' /x '>Cats &amp; <b>dogs</b></a><script>var x</script>"
    "<style>p {}</style><p>one</p><p>two<br>three</p><!-- four --></div><div class='results'>no</div>"
)


def problem(text: str, namespaces: dict[str, str] | None = None) -> XPathProblem:
    with pytest.raises(XPathProblem) as caught:
        compile_xpath(text, namespaces or {})
    return caught.value


def test_the_value_of_an_element_is_its_text_with_single_blanks() -> None:
    assert compile_xpath("//a:title", ATOM).first(FEED) == "A long title"


def test_a_selector_that_passed_before_is_compiled_once_when_it_is_first_asked_for() -> None:
    later = defer_xpath("//a:title", ATOM)

    assert later().first(FEED) == "A long title"
    assert later() is later()


def test_a_selector_that_has_become_unusable_is_a_fault_at_its_first_use() -> None:
    later = defer_xpath("//a:title", {})

    with pytest.raises(Fault, match="the selector '//a:title' cannot be used: unknown namespace prefix 'a'") as caught:
        later()

    assert caught.value.kind == "internal"


def test_all_leaves_out_what_is_empty() -> None:
    assert compile_xpath("a:entry/a:author/a:name", ATOM).all(FEED) == ["A B", "C D"]


def test_the_first_value_is_the_first_that_is_not_empty() -> None:
    assert compile_xpath("a:entry/a:author[position() > 1]/a:name", ATOM).first(FEED) == "C D"


def test_nothing_selected_is_none() -> None:
    assert compile_xpath("//a:missing", ATOM).first(FEED) is None
    assert compile_xpath("//a:missing", ATOM).all(FEED) == []


def test_nodes_are_handed_out_raw() -> None:
    authors = compile_xpath("//a:author", ATOM).nodes(FEED)

    assert [etree.QName(author).localname for author in authors] == ["author"] * 3
    assert compile_xpath("//a:entry/@n", ATOM).nodes(FEED) == ["7"]


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("count(//a:author)", 3, "number"),
        ("count(//a:author) div 2", 1.5, "number"),
        ("number('x')", None, "number"),
        ("1 div 0", None, "number"),
        ("count(//a:author) > 2", True, "boolean"),
        ("normalize-space(concat(//a:name, ' ', ' x'))", "A B x", "text"),
        ("string(//a:missing)", None, "text"),
        ("//a:entry/@n", "7", "nodes"),
        ("//a:entry/@n * 2", 14, "number"),
        ("//a:entry/*[self::a:title and (true() or false())]", "A long title", "nodes"),
    ],
)
def test_an_expression_yields_a_value_of_its_kind(text: str, value: object, kind: str) -> None:
    xpath = compile_xpath(text, ATOM)

    assert (xpath.first(FEED), xpath.kind) == (value, kind)


def test_comments_scripts_and_styles_of_a_page_are_not_text_and_blocks_part_words() -> None:
    assert compile_xpath("//div[1]").first(PAGE) == "Cats & dogs one two three"


def test_a_script_that_is_selected_itself_has_its_text() -> None:
    assert compile_xpath("//script").first(PAGE) == "var x"


def test_a_style_element_of_xml_is_text_like_any_other() -> None:
    assert compile_xpath(".").first(etree.fromstring(b"<r><style>bold</style><!--no--> text</r>")) == "bold text"


def test_has_class_matches_a_whole_class_name() -> None:
    assert len(compile_xpath("//*[has-class('result')]").nodes(PAGE)) == 1
    assert compile_xpath('.//a[has-class("result__a")]/@href').first(PAGE) == "/x"
    assert compile_xpath("//div[has-class('result') and has-class('big')]").test(PAGE)
    assert not compile_xpath("//*[has-class('resul')]").test(PAGE)


def test_a_selector_knows_whether_it_starts_at_the_document() -> None:
    assert compile_xpath("//div").absolute
    assert not compile_xpath(".//div").absolute


def test_an_item_that_is_text_can_only_be_taken_whole() -> None:
    assert compile_xpath(".").first(" a  b ") == "a b"
    with pytest.raises(Fault, match="is text without parts"):
        compile_xpath("./b").first("a")


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "the selector is empty", 0),
        ("a[b", "'[' is never closed", 1),
        ("a]", "']' closes nothing", 1),
        ("a[(b])", "']' closes nothing", 4),
        ("a = 'b", "a quote is never closed", 4),
        ("a # b", "'#' has no meaning in XPath", 2),
        ("a b", "this is not XPath: something is wrong at 'b'", 2),
        ("a/", "this is not XPath: something is missing at the end", 2),
        ("a | parents::b", "unknown axis 'parents'", 4),
        ("count('x')", "this XPath cannot be evaluated: Invalid type", 0),
        ("a['\x00']", "a selector cannot hold control characters", 0),
    ],
)
def test_what_is_not_xpath_is_e201_with_the_place(text: str, message: str, offset: int) -> None:
    found = problem(text)

    assert (found.code, found.message, found.offset) == ("E201", message, offset)


def test_an_undeclared_prefix_is_e202() -> None:
    found = problem("a:title/atom:name", {"a": "urn:a", "atm": "urn:b"})

    assert (found.code, found.message, found.offset) == ("E202", "unknown namespace prefix 'atom'", 8)
    assert found.hint == 'did you mean "atm"?'


def test_a_prefix_nobody_declared_gets_the_key_to_write() -> None:
    assert problem("@xlink:href").hint == "declare it: namespaces: {xlink: <the namespace's URI>}"


def test_the_prefix_xml_needs_no_declaration() -> None:
    assert compile_xpath("@xml:lang").first(etree.fromstring(b'<r xml:lang="de"/>')) == "de"


def test_a_variable_is_e202() -> None:
    assert (problem("a[$x]").code, problem("a[$x]").offset) == ("E202", 2)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (".//a[hasclass('x')]", "unknown function 'hasclass'", 'did you mean "has-class"?'),
        ("document('x.xml')", "unknown function 'document'", ""),
        ("re:test(., 'x')", "unknown function 're:test'", ""),
        ("contains(.)", "contains() takes 2 arguments, not 1", ""),
        ("concat('a')", "concat() takes 2 or more arguments, not 1", ""),
        ("substring('a')", "substring() takes 2 to 3 arguments, not 1", ""),
        ("true(1)", "true() takes 0 arguments, not 1", ""),
        ("has-class(@x)", "has-class() takes one class name in quotes", ""),
        ("has-class('a b')", "has-class() takes one class name in quotes", ""),
    ],
)
def test_an_unknown_or_misused_function_is_e203(text: str, message: str, hint: str) -> None:
    found = problem(text, {"re": "http://exslt.org/regular-expressions"})

    assert (found.code, found.message, found.hint) == ("E203", message, hint)


def test_every_function_on_the_list_is_one_the_evaluator_has() -> None:
    arguments = {"count": "*", "sum": "*", "has-class": "'x'"}
    for name, (least, _) in FUNCTIONS.items():
        call = f"{name}({', '.join([arguments.get(name, 'string(.)')] * least)})"
        assert isinstance(compile_xpath(f"self::node()[boolean({call}) or true()]").all(PAGE), list)


def test_elements_may_be_called_like_operators_and_functions() -> None:
    document = etree.fromstring(b"<r><and>1</and><div>2</div><count>3</count></r>")

    assert compile_xpath("and or div").first(document) is True
    assert compile_xpath("div * count").first(document) == 6
    assert compile_xpath("and and (div)").first(document) is True
    assert compile_xpath("child::count").first(document) == "3"


_PIECES = st.sampled_from(
    ["a", "//", "/", ".", "..", "[", "]", "(", ")", "@", "*", "'x'", "1", " and ", "has-class", ",", "|", "::", "$"]
)


@given(st.one_of(st.text(), st.lists(_PIECES, max_size=10).map("".join)))
def test_any_text_is_a_selector_or_a_problem_with_a_place(text: str) -> None:
    found = xpath = None
    try:
        xpath = compile_xpath(text)
    except XPathProblem as problem:
        found = problem

    if xpath:
        assert isinstance(xpath.all(FEED), list)
        assert isinstance(xpath.all(PAGE), list)
    else:
        assert found
        assert found.code in ("E201", "E202", "E203")
        assert 0 <= found.offset <= len(text)
