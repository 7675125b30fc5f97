"""A view shows what a compiled spec has, and leaves a record of each path that was read."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.authoring.incremental.facts import MISSING, Fact, Facts, MappingView, digest, join, pack, unpack
from specloom.core.diagnostics import Place
from specloom.language.makers import constantly, list_of
from specloom.language.types import ANY, TEXT
from specloom.model.model import Model
from specloom.model.provider import Operation, Provider
from specloom.model.values import Value
from tests.support.shipped import shipped_model


def facts_of(model: Model, remembered: dict[str, Fact] | None = None, *, holds: bool = False) -> Facts:
    def derive(path: str) -> Fact | None:
        return ["mapping", list(getattr(model, path))] if "\t" not in path else None

    def find(kind: str, name: str) -> Any:
        assert not holds, "what holds is not compiled again"
        return getattr(model, kind)[name]

    return Facts(remembered or {}, derive, lambda _: holds, find)


@pytest.fixture(scope="module")
def model() -> Model:
    return shipped_model()


def first(facts: Facts) -> tuple[str, Provider]:
    return next(iter(MappingView(facts, "providers").items()))


def test_a_view_has_the_class_the_fields_and_the_methods_of_what_it_shows(model: Model) -> None:
    name, view = first(facts_of(model))
    real = model.providers[name]

    assert isinstance(view, Provider)
    assert (view.name, view.title, view.notes, tuple(view.operations)) == (
        real.name,
        real.title,
        real.notes,
        tuple(real.operations),
    )
    operation = next(iter(view.operations.values()))
    assert isinstance(operation, Operation)
    assert operation.id == next(iter(real.operations.values())).id
    assert dataclasses.replace(operation, name="other").name == "other"


def test_what_is_read_is_recorded_and_nothing_else(model: Model) -> None:
    facts = facts_of(model)
    view = MappingView(facts, "providers")
    name = next(iter(model.providers))

    with facts.recording() as reads:
        view[name].title  # noqa: B018
        assert "nobody" not in view
        with facts.recording() as inner:
            view[name].notes  # noqa: B018

    assert reads == {join("providers", name), join("providers", name, "title"), join("providers", "nobody")}
    assert inner == {join("providers", name), join("providers", name, "notes")}


def test_the_second_to_read_the_same_is_recorded_as_well(model: Model) -> None:
    facts = facts_of(model)
    view = MappingView(facts, "tools")["web_search"]

    both = []
    for _ in range(2):
        with facts.recording() as reads:
            [strategy.name for strategy in view.plan]
        both.append(reads)

    assert both[0] == both[1]
    assert join("tools", "web_search", "plan", "0", "name") in both[0]


def test_what_holds_is_shown_from_the_facts_alone(model: Model) -> None:
    facts = facts_of(model)
    name, view = first(facts)
    texts = [(one.id, one.arguments_used, one.input, one.place) for one in view.operations.values()]
    kept = json.loads(json.dumps(facts.known))

    again = first(facts_of(model, kept, holds=True))[1]

    assert [(one.id, one.arguments_used, one.input, one.place) for one in again.operations.values()] == texts
    assert not any(facts_of(model, kept).has_changed(path) for path in kept), name


def test_what_stands_below_a_path_that_has_shrunk_is_missing(model: Model) -> None:
    facts = facts_of(model)
    (name,) = (one for one in model.tools if one == "web_search")

    for end in ("plan\t99", "plan\t0\tname\tx", "settings\tNOTHING\tname", "inputs\tnothing"):
        assert facts.fact(join("tools", name, end)) == MISSING


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner)
    | st.frozensets(st.text()) | st.builds(Place, st.text(), st.integers(), st.integers(), st.integers()),
    max_leaves=8,
)  # fmt: skip


@given(_PLAIN)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    back = unpack(json.loads(json.dumps(pack(value))))

    assert repr(back) == repr(value) or back == value
    assert type(back) is type(value)


@pytest.mark.parametrize("value", [object(), re.compile("x"), {1}, ANY, b"x"])
def test_what_is_no_plain_data_is_not_taken_for_it(value: object) -> None:
    with pytest.raises(TypeError):
        pack(value)


def test_functions_are_the_same_if_they_were_made_of_the_same() -> None:
    def value(of: Any, line: int = 1) -> Value:
        return Value(constantly(of), TEXT, Place("a", line))

    assert digest(list_of((value("x"), value(1)))) == digest(list_of((value("x"), value(1))))
    assert digest(list_of((value("x"),))) != digest(list_of((value("y"),)))
    assert digest(constantly(1)) != digest(constantly(True))
    with pytest.raises(TypeError):
        digest(lambda: 1)


def test_true_and_one_are_not_the_same_fact(model: Model) -> None:
    facts = facts_of(model, {"providers": ["mapping", [*model.providers]], "tools": ["plain", 1]})
    facts.known["tools"] = ["plain", True]

    assert not facts.has_changed("providers")
    assert facts.has_changed("tools")
