"""Generated code means what the closures of the compiler mean, for all shipped specs and for made-up expressions."""

from __future__ import annotations

import ast
import copy
import dataclasses
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.authoring.examples.run import check_examples
from specloom.compiler import compile_code, generate, make_image
from specloom.core.diagnostics import Place
from specloom.language.evaluation import Layer
from specloom.language.expressions.api import compile_expression, compile_selector
from specloom.language.expressions.failures import EvaluationError
from specloom.language.types import ANY, RecordType
from specloom.model import KINDS, SPEC, Image, Value, load_model
from specloom.model.values import Field
from tests.support.shipped import shipped_specs

PLACE = Place("demo.yaml", 7, 3)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("image") / "model.image"
    path.write_bytes(make_image(shipped_specs().model, "stamp"))
    path.chmod(0o600)
    path.parent.chmod(0o700)
    return path


def run_code(spec: Any) -> Any:
    module: dict[str, Any] = {}
    exec(compile_code(generate(spec, "demo.yaml"), "demo.yaml"), module)
    return module[SPEC]


def outcome(evaluate: Any, value: Any) -> Any:
    """What an expression gives, so that 1 and true differ; or the sentence with which it fails."""
    try:
        return repr(evaluate(value))
    except EvaluationError as error:
        return ("failed", str(error))


def test_every_shipped_example_passes_with_the_model_of_the_image(image: Path) -> None:
    _, library, compiled = shipped_specs()
    report = copy.deepcopy(compiled)

    check_examples(library, load_model(Image(str(image))), report)

    assert [str(one) for one in report.found] == []


def differing(ours: Any, wanted: Any, path: str) -> list[str]:
    """Where two models differ in what a call reads; functions are the same if their makers and parts are."""
    if callable(wanted) and not isinstance(wanted, type):
        return [] if callable(ours) else [path]
    if dataclasses.is_dataclass(wanted):
        dropped = {Field: {"shape", "uses", "tables"}, Value: {"shape", "tables", "uses"}}.get(type(wanted), set())
        names = [one.name for one in dataclasses.fields(wanted) if one.compare and one.name not in dropped]
        names = [name for name in names if (type(wanted).__name__, name) != ("Provider", "tables")]
        found = [differing(getattr(ours, name, None), getattr(wanted, name), f"{path}.{name}") for name in names]
        return [one for each in found for one in each] if type(ours) is type(wanted) else [path]
    if isinstance(wanted, Mapping):
        if not isinstance(ours, Mapping) or list(ours) != list(wanted):
            return [path]
        return [one for key in wanted for one in differing(ours[key], wanted[key], f"{path}.{key}")]
    if isinstance(wanted, (list, tuple)):
        if type(ours) is not type(wanted) or len(ours) != len(wanted):
            return [path]
        pairs = enumerate(zip(ours, wanted, strict=True))
        return [one for at, (our, their) in pairs for one in differing(our, their, f"{path}[{at}]")]
    return [] if ours == wanted and type(ours) is type(wanted) else [path]


def test_the_model_of_the_image_is_the_compiled_one_but_for_what_proofs_read(image: Path) -> None:
    model = shipped_specs().model
    loaded = load_model(Image(str(image)))

    assert [one for kind in KINDS for one in differing(getattr(loaded, kind), getattr(model, kind), kind)] == []
    assert differing(loaded.heads, model.heads, "heads") == []
    assert loaded.digest == model.digest
    assert [page.id for page in loaded.pages] == [page.id for page in model.pages]
    assert {name: list(loaded.offering(name)) for name in model.capabilities} == {
        name: list(model.offering(name)) for name in model.capabilities
    }


def test_the_same_model_makes_the_same_bytes(image: Path) -> None:
    assert make_image(shipped_specs().model, "stamp") == image.read_bytes()


# --- Expressions: values and faults of the code are those of the closures ---------------------------------------------

NAMES = st.sampled_from(["a", "b", "c", "d e"])
STEPS = st.sampled_from(["a", "b", "[a, b]", "{x: a, y: b}"])
BRACKETS = st.sampled_from(["0", "-1", "1", "*", "", "?a", "?@ > `1`", "0:2", "::-1"])
CALLED = st.sampled_from(["to_string", "length", "keys", "not_null", "type", "upper", "host"])
PARTS = st.sampled_from(["a", "b", "c", '"d e"', "@"])
ITEMS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from([0.0, 1.0, 1.5, "", "a", "x", "1", "2026-01-05"])
    | st.just([]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "c", "d e"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        st.builds(
            "{0}.{1}".format,
            inner.filter(lambda text: text != "@"),
            st.sampled_from(["a", "b", "[a, b]", "{x: a, y: b}"]),
        ),
        st.builds("({}) | {}".format, inner, inner),
        st.builds(
            "({})[{}]".format, inner, st.sampled_from(["0", "-1", "1", "*", "", "?a", "?@ > `1`", "0:2", "::-1"])
        ),
        st.builds("({})[*].{}".format, inner, st.sampled_from(["a", "b.c", "[a][0]"])),
        st.builds("({}).*".format, inner),
        st.builds("!({})".format, inner),
        two.map(lambda pair: f"({pair[0]}) || ({pair[1]})"),
        two.map(lambda pair: f"({pair[0]}) && ({pair[1]})"),
        st.builds("({}) {} ({})".format, inner, st.sampled_from(["==", "!=", "<", ">="]), inner),
        st.builds("when({}, {}, {})".format, inner, inner, inner),
        st.builds(
            "{}({})".format,
            st.sampled_from(["to_string", "length", "keys", "not_null", "type", "upper", "host"]),
            inner,
        ),
        st.builds("map(&{}, {})".format, inner, inner),
        st.builds("sort_by({}, &a)".format, inner),
        st.builds("lookup('table', {})".format, inner),
        st.builds("contains({}, {})".format, inner, inner),
    )


EXPRESSIONS = st.recursive(
    PARTS | st.sampled_from(["`1`", "`true`", "`0`", "'x'", "`[]`", "`null`", "`[1, true]`"]), grow, max_leaves=5
)
TABLES = {"table": {"x": 1, "1": "one", "a": {"b": [2]}}}


@given(text=EXPRESSIONS, item=ITEMS)
def test_an_expression_over_an_item_means_the_same_as_code(text: str, item: Any) -> None:
    expression, problems = compile_selector(text, ANY, tables=TABLES)
    if expression is None or problems:
        return
    code = run_code(Value(expression.evaluate, ANY, PLACE, text)).evaluate

    assert outcome(code, item) == outcome(expression.evaluate, item)


@given(
    text=EXPRESSIONS.filter(lambda text: "@" not in text),
    values=st.fixed_dictionaries({"a": ITEMS, "b": ITEMS, "c": ITEMS}),
)
def test_an_expression_over_bindings_means_the_same_as_code(text: str, values: dict[str, Any]) -> None:
    scope = RecordType({"a": ANY, "b": ANY, "c": ANY}, required=frozenset("abc"))
    expression, problems = compile_expression(text, scope, tables=TABLES)
    if expression is None or problems:
        return
    code = run_code(Value(expression.evaluate, ANY, PLACE, text)).evaluate

    for bindings in (values, Layer({"a": values["a"]}, b=values["b"], c=values["c"])):
        assert outcome(code, bindings) == outcome(expression.evaluate, bindings)


def test_a_traceback_of_generated_code_names_the_line_of_the_spec() -> None:
    expression, _ = compile_selector("upper(a)")
    assert expression is not None
    code = run_code(Value(expression.evaluate, ANY, PLACE, "upper(a)")).evaluate

    with pytest.raises(EvaluationError) as raised:
        code({"a": 1})

    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(raised.tb)]
    assert ("demo.yaml", 7) in places


def test_the_code_is_plain_python_that_can_be_read() -> None:
    tool = shipped_specs().model.tools["web_search"]

    text = ast.unparse(generate(tool, tool.place.file))

    assert "return context.get('args')" not in text  # a whole root is never read
    assert "look_into_lenses(path(context.get('args'), 'lens'))" in text.replace(
        "get(context.get('args'), 'lens')", "path(context.get('args'), 'lens')"
    )
    assert "SPEC = tool_" in text
    assert "__import__" not in text


def test_what_no_code_makes_is_refused() -> None:
    with pytest.raises(TypeError, match="no code makes"):
        generate(Value(len, ANY, PLACE), "demo.yaml")
    with pytest.raises(TypeError, match="no code makes a object"):
        generate(Value(object(), ANY, PLACE), "demo.yaml")  # type: ignore[arg-type]
