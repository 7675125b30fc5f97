"""Expressions are checked before they run, say what they read, and mean what the JMESPath interpreter means."""

import json
import re
import threading

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from jmespath.parser import Parser

from specloom.core.secrets import Secret
from specloom.language.expressions.api import compile_expression, compile_selector
from specloom.language.expressions.calls import SpecFunctions
from specloom.language.expressions.compile import build, evaluate_reference, guard
from specloom.language.expressions.failures import EvaluationError
from specloom.language.expressions.parser import ExpressionProblem, parse
from specloom.language.functions.registry import FUNCTIONS
from specloom.language.types import (
    ANY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    SECRET,
    TEXT,
    Choice,
    ListOf,
    Maybe,
    RecordType,
    maybe,
)

TABLES = {"demo": {"a": "x", "1": ["y"], "true": {"a": 1}}, "sort": {"date": "pub_date"}}
ROW = RecordType(
    {"title": TEXT, "url": TEXT, "year": Maybe(INTEGER), "tags": ListOf(TEXT)}, required=frozenset(["title", "tags"])
)
SCOPE = RecordType(
    {
        "args": RecordType(
            {"query": TEXT, "offset": INTEGER, "count": INTEGER, "deep": BOOLEAN}, required=frozenset(["query"])
        ),
        "config": RecordType(
            {"KEY": maybe(SECRET), "OTHER": SECRET, "FAST": BOOLEAN}, required=frozenset(["FAST", "OTHER"])
        ),
        "steps": RecordType({"ids": ListOf(RecordType({"id": TEXT})), "raw": ANY}),
        "rows": ListOf(ROW),
        "row": ROW,
        "status": INTEGER,
        "body": ANY,
    }
)
CONTEXT = {
    "args": {"query": "cats", "offset": 2, "count": 50, "deep": False},
    "config": {"KEY": Secret("s3cret"), "OTHER": Secret("s4cret"), "FAST": True},
    "steps": {"ids": [{"id": "1"}, {"id": None}, {"id": "2"}], "raw": {"a": [1, 2]}},
    "rows": [{"title": "A", "url": "u", "year": 2001, "tags": ["x"]}, {"title": "B", "year": 1999, "tags": []}],
    "row": {"title": "A", "url": "u", "year": 2001, "tags": ["x", "y"]},
    "status": 429,
    "body": {"error": {"code": "LIMIT", "meta": {"plan": "Free"}}},
}


def compile_ok(text, scope=SCOPE):
    expression, problems = compile_expression(text, scope, tables=TABLES)
    assert problems == []
    return expression


COMMA = "where a comma ended the value, put it in quotes"


@pytest.mark.parametrize(
    ("text", "value", "shape", "uses"),
    [
        ("args.query", "cats", TEXT, ["args.query"]),
        ("args.offset", 2, Maybe(INTEGER), ["args.offset"]),
        ("clamp(args.count, `1`, `20`)", 20, Maybe(INTEGER), ["args.count"]),
        ("config.KEY", Secret("s3cret"), Maybe(SECRET), ["config.KEY"]),
        ("when(config.KEY, '10', '3')", "10", TEXT, ["config.KEY"]),
        ("config.KEY && 'with' || 'without'", "with", TEXT, ["config.KEY"]),
        ("config.KEY || config.OTHER", Secret("s3cret"), SECRET, ["config.KEY", "config.OTHER"]),
        ("when(args.deep, config.KEY, `null`)", None, Maybe(SECRET), ["args.deep", "config.KEY"]),
        ("!(config.KEY)", False, BOOLEAN, ["config.KEY"]),
        ("steps.ids[*].id", ["1", "2"], Maybe(ListOf(TEXT)), ["steps.ids.id"]),
        ("join(',', steps.ids[*].id)", "1,2", TEXT, ["steps.ids.id"]),
        ("steps.ids[0].id", "1", Maybe(TEXT), ["steps.ids.id"]),
        ("steps.raw.a[-1]", 2, ANY, ["steps.raw.a"]),
        ("rows[*].url", ["u"], ListOf(TEXT), ["rows.url"]),
        ("rows[0]", CONTEXT["rows"][0], Maybe(ROW), ["rows"]),
        ("rows[?year > `2000`].title", ["A"], ListOf(TEXT), ["rows.year", "rows.title"]),
        ("rows[?year > `2000`].title | [0]", "A", Maybe(TEXT), ["rows.year", "rows.title"]),
        ("rows[].tags[]", ["x"], ListOf(TEXT), ["rows.tags"]),
        ("rows[::-1].title", ["B", "A"], ListOf(TEXT), ["rows.title"]),
        ("rows[*].{t: title, n: length(tags)}[0].n", 1, Maybe(INTEGER), ["rows.title", "rows.tags"]),
        ("rows[*].{one: `1`}", [{"one": 1}] * 2, ListOf(RecordType({"one": INTEGER}, required=frozenset(["one"]))),
         ["rows"]),
        ("length(rows[*].title)", 2, INTEGER, ["rows.title"]),
        ("sort_by(rows, &year)[0].title", "B", Maybe(TEXT), ["rows"]),
        ("map(&year, rows)", [2001, 1999], ListOf(Maybe(INTEGER)), ["rows.year"]),
        ("map(&fill('{title} ({year})', @), rows)", ["A (2001)", "B (1999)"], ListOf(Maybe(TEXT)), ["rows"]),
        ("body.* | [0].code", "LIMIT", ANY, ["body"]),
        ("body.error.meta | {p: plan}", {"p": "Free"}, Maybe(RecordType({"p": ANY}, required=frozenset("p"))),
         ["body.error.meta.plan"]),
        ("body | `1`", 1, INTEGER, ["body"]),
        ("args | query", "cats", TEXT, ["args.query"]),
        ("args.[query, count][1]", 50, ANY, ["args.query", "args.count"]),
        ("{q: args.query}.q", "cats", TEXT, ["args.query"]),
        ("(args.deep || body).error", CONTEXT["body"]["error"], ANY, ["args.deep", "body"]),
        ("status == `429` && body.error.code == 'LIMIT'", True, BOOLEAN, ["status", "body.error.code"]),
        ("status > `500` || 'fine'", "fine", ANY, ["status"]),
        ("lookup('sort', args.query) || 'rank'", "rank", TEXT, ["args.query"]),
        ("fill('{title}: {url}', row)", "A: u", Maybe(TEXT), ["row"]),
        ("contains(row.tags, 'y')", True, BOOLEAN, ["row.tags"]),
        ("'text'", "text", TEXT, []),
        ("`null`", None, NULL, []),
        ("add(`1`, `2`)", 3, INTEGER, []),
        ("rows[?tags].length(title)", [1], ListOf(INTEGER), ["rows.tags", "rows.title"]),
        ("@.args.query", "cats", TEXT, ["args.query"]),
        ("@ | {q: args.query}", {"q": "cats"}, RecordType({"q": TEXT}, required=frozenset("q")), ["args.query"]),
    ],
)  # fmt: skip
def test_an_expression_has_a_value_a_shape_and_the_paths_it_reads(text, value, shape, uses):
    expression = compile_ok(text)

    assert expression.evaluate(CONTEXT) == value == evaluate_reference(text, CONTEXT, TABLES)
    assert expression.shape == shape
    assert {".".join(path) for path in expression.uses} == set(uses)


@pytest.mark.parametrize(
    ("text", "code", "message", "hint", "offset"),
    [
        ("", "E201", "the expression is empty", "write a name, a 'text' or a `literal`", 0),
        ("  ", "E201", "the expression ends too early", "", 1),
        ("args.", "E201", "the expression ends too early", "", 4),
        ("length(rows", "E201", "the expression ends too early", f"a '(' is not closed; {COMMA}", 10),
        ("args.query ]", "E201", "']' does not belong here", "", 11),
        ("args..query", "E201", "'.' does not belong here", "", 5),
        ("status == 429", "E201", "'429' does not belong here", "a number is written as a literal: `429`", 10),
        ("status = `1`", "E201", "'=' does not compare", "write ==", 7),
        ("'open", "E201", "the ' that starts here is not closed", "", 0),
        ("args.query || `text`", "E201", "`text` is not JSON", "for a text write 'text'", 14),
        ("args.count + `1`", "E201", "'+' is not part of the language", "write add(a, b)", 11),
        ("args.query['x']", "E201", "'x' does not belong here", "", 11),
        ('"length"(rows)', "E201", "'(' does not belong here", "a function is called by its bare name", 0),
        ("arg.query", "E202", "unknown name 'arg'", 'did you mean "args"?', 0),
        ("clamp(args.ofset, `0`, `9`)", "E202", "unknown name 'ofset'", 'did you mean "offset"?', 11),
        ("rows[*].zzz", "E202", "unknown name 'zzz'", "known: tags, title, url, year", 8),
        ("rows.title", "E202", "a list has no field 'title'", "write [*].title for that of each item", 5),
        ("args.query.x", "E202", "text has no field 'x'", "", 11),
        ("fill('{title} {jear}', row)", "E202", "unknown name 'jear'", 'did you mean "year"?', 5),
        ("map(&titel, rows)", "E202", "unknown name 'titel'", 'did you mean "title"?', 5),
        ("lenght(rows)", "E203", "unknown function 'lenght'", 'did you mean "length"?', 0),
        ("row.uper(title)", "E203", "unknown function 'uper'", 'did you mean "upper"?', 4),
        ("clamp(args.count, `9`, `1`)", "E204",
         "clamp() has 9 as its least and 1 as its most, so it always gives the one",
         "write clamp(number, least, most)", 18),
        ("clamp(args.count)", "E204", "clamp() takes 3 arguments, and got 1",
         "clamp(nullable number, nullable number, nullable number)", 0),
        ("not_null()", "E204", "not_null() takes at least 1 argument, and got 0", "not_null(any, …)", 0),
        ("trim(`1`)", "E204", "trim() takes nullable string as argument 1, and got a number", "", 5),
        ("word_count(`null`)", "E204", "word_count() takes string as argument 1, and got null", "", 11),
        ("join(',', [status])", "E204", "join() takes array of string as argument 2, and got a list", "", 10),
        ("sort_by(rows, year)", "E204", "sort_by() takes an expression as argument 2, and got a value",
         "write &name for an expression that is applied to each item", 14),
        ("map(&a, status)", "E204", "map() takes array as argument 2, and got a number", "", 8),
        ("to_string(&a)", "E204", "an expression (&…) is not a value",
         "it is taken by map, max_by, min_by, sort_by", 10),
        ("capture(args.query, row.title)", "E204", "capture() takes a pattern that is written out",
         "write capture(text, 'pattern')", 20),
        ("capture(args.query, '(a')", "E204", "capture(): '(a' is not a regular expression: missing ), unterminated "
         "subpattern at position 0", "", 20),
        ("capture(args.query, `1`)", "E204", "capture() takes string as argument 2, and got a number", "", 20),
        ("args.query[0]", "E204", "[…] takes the items of a list, and this is text", "", 5),
        ("status < 'x'", "E204", "a number and text have no order", "to_number(text) gives a number", 0),
        ("rows[::0]", "E204", "the step of a slice cannot be 0", "leave it out, or write -1 for backwards", 0),
        ("!args.query", "E205", "'!a.b' means '(!a).b', which is always null", "write !(a.b)", 0),
        ("status && !rows[*].title", "", "", "", 0),
        ("status && !args.deep", "E205", "'!a.b' means '(!a).b', which is always null", "write !(a.b)", 10),
        ("!rows[?title]", "E205", "'!a.b' means '(!a).b', which is always null", "write !(a.b)", 0),
        ("!rows[]", "E205", "'!a.b' means '(!a).b', which is always null", "write !(a.b)", 0),
        ("!body.*", "E205", "'!a.b' means '(!a).b', which is always null", "write !(a.b)", 0),
        ("args", "E206", "'args' as a whole hides what is used of it", "name a value, like args.name", 0),
        ("keys(args)", "E206", "'args' as a whole hides what is used of it", "name a value, like args.name", 5),
        ("{a: steps}", "E206", "'steps' as a whole hides what is used of it", "name a value, like steps.name", 4),
        ("config.*", "E206", "'config' as a whole hides what is used of it", "name a value, like config.name", 0),
        ("config | @", "E206", "'config' as a whole hides what is used of it", "name a value, like config.name", 9),
        ("length(@)", "E206", "'@' is the whole context here", "name the value that is meant", 7),
        ("lookup('dem', status)", "E208", "unknown table 'dem'", 'did you mean "demo"?', 7),
        ("lookup(args.query, status)", "E208", "lookup() takes the literal name of a table",
         "write lookup('table', key)", 7),
    ],
)  # fmt: skip
def test_a_problem_says_what_where_and_what_would_do(text, code, message, hint, offset):
    expression, problems = compile_expression(text, SCOPE, tables=TABLES)

    if not code:
        assert expression is not None
        return
    assert expression is None
    assert [(problem.code, problem.message, problem.hint, problem.offset) for problem in problems] == [
        (code, message, hint, offset)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "config.KEY || 'x'",
        "config.KEY || args.query",
        "join('', ['Bearer ', config.KEY])",
        "[config.KEY]",
        "{key: config.KEY}",
        "config.KEY == 'x'",
        "to_string(config.KEY)",
        "length(config.KEY || config.OTHER)",
        "when(args.deep, config.KEY, 'none')",
        "args.deep && config.KEY",
        "config.KEY.x",
        "config.KEY[0]",
        "not_null(config.KEY, 'x')",
        "config.KEY | [@]",
        "(config.KEY || 'x') | @",
        "config.[KEY, FAST]",
        "map(&@, config.KEY)",
        "(when(args.deep, config.KEY, config.OTHER)) | [@]",
    ],
)
def test_a_secret_goes_nowhere_but_out_alone_or_into_a_test(text):
    expression, problems = compile_expression(text, SCOPE)

    assert expression is None
    assert {problem.code for problem in problems} == {"E207"}


def test_all_problems_of_an_expression_come_together_in_order():
    _, problems = compile_expression("clmp(args.ofset) || lookup('nix', arg.x) || trim(`1`)", SCOPE)

    assert [problem.code for problem in problems] == ["E203", "E202", "E208", "E202", "E204"]
    assert [problem.offset for problem in problems] == [0, 10, 27, 34, 49]


def test_a_selector_reads_from_its_item():
    expression, problems = compile_selector("contact.phones[0].number")

    assert problems == []
    assert expression.uses == {("contact", "phones", "number")}
    assert expression.shape == ANY
    assert compile_selector("@")[0].uses == {()}
    assert compile_selector("[*].{one: `1`}")[0].uses == {()}
    assert compile_selector("titel", ROW)[1][0].code == "E202"


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("[title, url]", ListOf(Maybe(TEXT))),
        ("[title, year]", ListOf(ANY)),
        ("year && title", Maybe(ANY)),
        ("url || title", TEXT),
        ("url || year", ANY),
        ("!(year)", BOOLEAN),
        ("year > `1`", Maybe(BOOLEAN)),
        ("year == `1`", BOOLEAN),
        ("tags[:2]", ListOf(TEXT)),
        ("{a: title, b: url}", RecordType({"a": TEXT, "b": Maybe(TEXT)}, required=frozenset("ab"))),
        ("`[1, 2.5]`", ListOf(NUMBER)),
        ("{a: title}.*", ListOf(TEXT)),
        ("[tags, tags][]", ListOf(TEXT)),
        ("when(year, 'a', title)", TEXT),
    ],
)
def test_the_shape_follows_through_every_node(text, shape):
    expression, problems = compile_selector(text, ROW)

    assert problems == []
    assert expression.shape == (ANY if shape == Maybe(ANY) else shape)


def test_a_choice_is_a_text():
    item = RecordType({"kind": Choice(("a", "b"))}, required=frozenset(["kind"]))

    assert compile_selector("upper(kind)", item)[0].shape == TEXT
    assert compile_selector("kind", item)[0].shape == Choice(("a", "b"))
    assert compile_selector("kind.x", item)[1][0].code == "E202"


def test_deep_nesting_is_a_problem_and_not_a_crash():
    for text in ("(" * 5000 + "a" + ")" * 5000, "a" + " || a" * 20000, "`" + "[" * 20000 + "`"):
        expression, problems = compile_selector(text)

        assert expression is None
        assert problems[0].code == "E201"


def test_a_deep_value_is_an_error_that_names_the_expression():
    value = {"a": "x"}
    for _ in range(5000):
        value = {"a": value}
    expression, _ = compile_selector("to_string(@)")

    with pytest.raises(EvaluationError, match="nested too deeply, in: to_string"):
        expression.evaluate(value)


def test_an_empty_secret_is_false():
    context = {**CONTEXT, "config": {"KEY": Secret(""), "FAST": True}}

    assert compile_ok("when(config.KEY, '10', '3')").evaluate(context) == "3"
    assert compile_ok("!(config.KEY)").evaluate(context) is True
    assert evaluate_reference("config.KEY && 'a' || 'b'", context, {}) == "b"


def test_the_positions_of_the_tree_do_not_reach_the_parser_of_the_package():
    parse("a.b || c")

    assert "at" not in Parser().parse("a.b || c").parsed


def test_threads_share_an_expression():
    expression = compile_ok("rows[?year > `2000`].title")
    found = []
    threads = [threading.Thread(target=lambda: found.append(expression.evaluate(CONTEXT))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [["A"]] * 8


# Any text, against the interpreter

NAMES = st.sampled_from(["a", "b", "c", '"a b"'])
LITERALS = st.sampled_from(
    ["'a'", "''", "'a b'", "'{a} {b}'", "`1`", "`0`", "`-2`", "`1.5`", "`true`", "`false`", "`null`", "`[]`", "`{}`",
     "`[1, 2, 0]`", "`[\"b\", \"a\"]`", "`[[1], 2, null]`", "`{\"a\": {\"b\": 1}}`", "`[{\"a\": 1}, {\"a\": 2}, {}]`"]
)  # fmt: skip
SIGNS = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
SLICES = st.sampled_from(["[0]", "[-1]", "[7]", "[1:]", "[:2]", "[::-1]", "[::2]", "[*]", "[]", ".*"])
KEYS = st.sampled_from(["a", "b", "c", "a b"])
LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.0, 1.0, 1.5, "", "a", "b", "a b", "//A.b/"])
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
ROWS = st.lists(st.dictionaries(KEYS, LEAVES, min_size=1, max_size=3), min_size=1, max_size=3)
VALUES = TREES | ROWS | st.dictionaries(KEYS, ROWS | TREES, min_size=1, max_size=3)


def joined(*parts):
    """Texts that are made of one text of each part."""
    return st.tuples(*(st.just(part) if isinstance(part, str) else part for part in parts)).map("".join)


def calls(inner):
    """Calls of every function with the right number of arguments, mostly of any kind."""

    def call(function):
        arguments = []
        for kind in function.parameters:
            if kind == "expref":
                arguments.append(joined("&", inner))
            elif kind == "table":
                arguments.append(st.sampled_from(["'demo'", "'sort'"]))
            else:
                arguments.append(inner)
        extra = [inner] * (1 if function.variadic else 0)
        separated = [part for argument in [*arguments, *extra] for part in (", ", argument)][1:]
        return joined(f"{function.name}(", *separated, ")")

    return st.sampled_from(sorted(FUNCTIONS)).flatmap(lambda name: call(FUNCTIONS[name]))


EXPRESSIONS = st.recursive(
    NAMES | LITERALS | st.just("@") | joined(NAMES, ".", NAMES) | st.just("*"),
    lambda inner: st.one_of(
        joined("(", inner, ").", NAMES),
        joined(NAMES, SLICES, ".", NAMES),
        joined(NAMES, "[?", inner, "].", NAMES),
        joined("[?", inner, "].", NAMES),
        joined("(", inner, ")", SLICES),
        joined("(", inner, ")[?", inner, "]"),
        joined("(", inner, ")[?", inner, "].", NAMES),
        joined("(", inner, ")[*].[", inner, ", ", inner, "]"),
        joined("(", inner, ").{a: ", inner, ", b: ", inner, "}"),
        joined("[", inner, ", ", inner, "]"),
        joined(inner, " | ", inner),
        joined("(", inner, ") || (", inner, ")"),
        joined("(", inner, ") && (", inner, ")"),
        joined("!(", inner, ")"),
        joined("(", inner, ") ", SIGNS, " (", inner, ")"),
        calls(inner),
        joined("(", inner, ")[*].", calls(inner)),
    ),
    max_leaves=7,
)
MANY = settings(suppress_health_check=list(HealthCheck))


def outcome(run, value):
    """The value, distinguishing 1, 1.0 and true, or the message of the failure."""
    try:
        return repr(run(value))
    except EvaluationError as error:
        return f"failed: {re.sub(r'0x[0-9a-f]+', '', error.message)}"


@MANY
@given(EXPRESSIONS, VALUES)
@example("a[?b == `0`]", {"a": [{"b": False}, {"b": 0}, {"b": 0.0}]})
@example("!(a)", {"a": 0})
@example("a == 'x'", {"a": 1})
@example("a.b", {"a": [1]})
@example("[::0]", [1])
def test_closures_and_interpreter_agree_on_value_and_failure(text, value):
    node = parse(text)
    assume(not isinstance(node, ExpressionProblem))
    code = build(node, SpecFunctions(TABLES))
    compiled = guard(text, code.run)

    assert outcome(compiled, value) == outcome(lambda item: evaluate_reference(text, item, TABLES), value)
    if not code.fails:
        assert outcome(code.run, value) == outcome(compiled, value)


def keep_used(value, paths):
    """The value with nothing at the paths changed, and elsewhere only its outline kept."""
    if () in paths:
        return value
    if isinstance(value, list):
        return [keep_used(item, paths) for item in value]
    if isinstance(value, dict):
        names = {path[0] for path in paths}
        kept = {name: keep_used(item, {path[1:] for path in paths if path[0] == name}) for name, item in value.items()
                if name in names}  # fmt: skip
        return {**kept, "unused": "changed"}
    return None if value is None else "changed"


def without_what_it_got(came):
    """What came of an expression; of a failure what was wanted, and not the value that was shown in its place."""
    return came.partition(", and got ")[0] if isinstance(came, str) and came.startswith("failed: ") else came


@MANY
@given(EXPRESSIONS, VALUES)
@example("@[*].{a: `1`}", [1, 2])
@example("map(&a, @)", False)
@example("(a | b) || c", {"a": {"b": 1}, "c": 2})
@example("a.* | [0]", {"a": {"x": 1}})
@example("max_by(a, &b).c", {"a": [{"b": 1, "c": 2}]})
def test_a_result_depends_on_nothing_but_what_the_expression_says_it_uses(text, value):
    expression, problems = compile_selector(text, tables=TABLES)
    assume(not problems)

    kept = keep_used(value, expression.uses)

    assert without_what_it_got(outcome(expression.evaluate, kept)) == without_what_it_got(
        outcome(expression.evaluate, value)
    )


class OrderedDict(dict):
    """A mapping that notes which paths are read; the name is one that the package takes for an object."""

    def __init__(self, items, path, reads):
        super().__init__({name: recording(item, (*path, name), reads) for name, item in items.items()})
        self.path = path
        self.reads = reads

    def get(self, name, default=None):
        self.reads.add((*self.path, name))
        return super().get(name, default)


def recording(value, path, reads):
    if isinstance(value, list):
        return [recording(item, path, reads) for item in value]
    return OrderedDict(value, path, reads) if isinstance(value, dict) else value


@MANY
@given(EXPRESSIONS, VALUES)
def test_every_name_that_is_read_is_on_the_way_to_or_below_a_path_in_uses(text, value):
    expression, problems = compile_selector(text, tables=TABLES)
    assume(not problems)
    reads = set()

    outcome(expression.evaluate, recording(value, (), reads))

    for read in reads:
        assert any(read[: len(path)] == path[: len(read)] for path in expression.uses), (read, expression.uses)


@MANY
@given(st.text(alphabet="ab.[]*?@&|!=<>(){}:, '\"`\\-01x", max_size=14))
def test_any_text_is_an_expression_or_a_problem_within_it(text):
    expression, problems = compile_selector(text)

    assert (expression is None) == bool(problems)
    for problem in problems:
        assert 0 <= problem.offset <= max(len(text) - 1, 0)
        assert problem.message
        assert "\n" not in problem.message


TYPED = RecordType(
    {
        "a": ListOf(RecordType({"a": TEXT, "b": Maybe(INTEGER)}, required=frozenset("b"))),
        "b": TEXT,
        "c": RecordType({"a": BOOLEAN, "b": ANY, "c": Maybe(NUMBER)}, closed=False),
        "a b": ListOf(INTEGER),
    },
    required=frozenset(["b", "a b"]),
)
TYPED_VALUES = st.fixed_dictionaries(
    {"b": st.sampled_from(["", "a"]), "a b": st.lists(st.integers(0, 2), max_size=3)},
    optional={
        "a": st.lists(
            st.fixed_dictionaries({"b": st.none() | st.integers(0, 2)}, optional={"a": st.sampled_from(["", "b"])}),
            max_size=3,
        ),
        "c": st.fixed_dictionaries(
            {}, optional={"a": st.booleans(), "b": VALUES, "c": st.none() | st.floats(0, 2), "d": VALUES}
        ),
    },
)


@MANY
@given(EXPRESSIONS, TYPED_VALUES)
def test_the_value_fits_the_inferred_shape(text, value):
    assert fits(value, TYPED)
    expression, problems = compile_selector(text, TYPED, tables=TABLES)
    assume(not problems)
    try:
        result = expression.evaluate(value)
    except EvaluationError:
        return

    assert fits(result, expression.shape), (json.dumps(result), expression.shape)


def fits(value, shape):
    match shape:
        case Maybe(inner):
            return value is None or fits(value, inner)
        case ListOf(item):
            return isinstance(value, list) and all(fits(element, item) for element in value)
        case RecordType(fields, closed, required):
            if not isinstance(value, dict) or (closed and not set(value) <= set(fields)) or not required <= set(value):
                return False
            return all(fits(element, fields.get(name, ANY)) for name, element in value.items())
        case _ if shape == ANY:
            return True
    kinds = {"text": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
    right = isinstance(value, kinds[shape.kind])
    return right and (shape == BOOLEAN or not isinstance(value, bool))
