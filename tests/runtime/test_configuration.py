"""Settings are read in their type from the environment, which is the only door; secrets print as dots."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core.diagnostics import Place
from specloom.core.secrets import Secret
from specloom.model.values import Setting
from specloom.runtime.configuration import SettingError, is_configured, missing_settings, read_setting, read_settings
from tests.support.spec_library import a_provider, weave_texts


def setting(kind: str = "text", **more: Any) -> Setting:
    return Setting("X_SETTING", "A setting.", Place("x"), kind, **more)


def read(kind: str, text: str, **more: Any) -> Any:
    return read_setting(setting(kind, **more), {"X_SETTING": text})


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("text", " a b ", "a b"),
        ("boolean", "Yes", True),
        ("boolean", "off", False),
        ("boolean", "1", True),
        ("integer", "-5", -5),
        ("number", "0.25", 0.25),
        ("number", "3", 3.0),
        ("url", "http://localhost:8080/x", "http://localhost:8080/x"),
        ("credentials", "me:p:w", Secret("me:p:w")),
        ("headers", "A: 1, b: two:three, a: 2", {"a": Secret("2"), "b": Secret("two:three")}),
    ],
)
def test_a_value_is_read_in_its_type(kind: str, text: str, value: object) -> None:
    found = read(kind, text)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("boolean", "maybe"),
        ("integer", "5.5"),
        ("integer", "9" * 20),
        ("number", "much"),
        ("number", "nan"),
        ("number", "inf"),
        ("url", "ftp://x"),
        ("url", "x.example"),
        ("credentials", "no-colon"),
        ("credentials", ":p"),
        ("headers", "A"),
        ("headers", "A B: c"),
        ("headers", "A: b\r\nC: d"),
        ("text", "a\nb"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_the_variable(kind: str, text: str) -> None:
    with pytest.raises(SettingError, match=r"^X_SETTING ") as caught:
        read(kind, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text", "hunter2\nx"),
        ("credentials", "hunter2"),
        ("headers", "X-Key hunter2"),
        ("url", "hunter2"),
        ("integer", "hunter2"),
    ],
)
def test_a_secret_is_not_in_the_sentence(kind: str, text: str) -> None:
    with pytest.raises(SettingError) as caught:
        read(kind, text, secret=True)
    assert "hunter2" not in str(caught.value)


def test_a_secret_prints_as_dots() -> None:
    found = read("text", "hunter2", secret=True)

    assert found == Secret("hunter2")
    assert "hunter2" not in f"{found} {found!r}"


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_variable_is_one_that_is_not_set(text: str) -> None:
    assert read("integer", text, default=7) == 7
    assert read("text", text) is None


def test_a_problem_leaves_the_default_and_the_other_settings() -> None:
    settings = {"A": Setting("A", "a", Place("x"), "integer", default=1), "B": Setting("B", "b", Place("x"))}

    values, problems = read_settings(settings, {"A": "x", "B": "y"})

    assert values == {"A": 1, "B": "y"}
    assert problems == ["A is 'x'; write a whole number"]


def test_another_variable_stands_in_for_one_that_is_not_set() -> None:
    top = "config:\n  A_MAIL: {description: a, or: B_MAIL, required: true}\n"
    step = "input: [query]\nsteps: [{get: /s, query: {q: =args.query, m: =config.A_MAIL}, json: {map: {url: url}}}]\n"
    provider = weave_texts(a_provider(step, top=top)).provider()

    assert [
        read_settings(provider.settings, environ)[0]
        for environ in ({"A_MAIL": "a", "B_MAIL": "b"}, {"B_MAIL": "b"}, {})
    ] == [
        {"A_MAIL": "a"},
        {"A_MAIL": "b"},
        {"A_MAIL": None},
    ]
    assert missing_settings(provider, {"A_MAIL": None}) == ["A_MAIL or B_MAIL"]


def test_a_provider_is_configured_when_every_required_setting_has_a_value() -> None:
    top = "config:\n  A_KEY: {description: a, secret: true, required: true}\n  B_ONE: {description: b}\n"
    step = (
        "input: [query]\nsteps: [{get: /s, query: {q: =args.query, b: =config.B_ONE}, headers: "
        "{K: =config.A_KEY}, json: {map: {url: url}}}]\n"
    )
    provider = weave_texts(a_provider(step, top=top)).provider()

    assert missing_settings(provider, {"A_KEY": None, "B_ONE": None}) == ["A_KEY"]
    assert not is_configured(provider, {"B_ONE": "x"})
    assert is_configured(provider, {"A_KEY": Secret("x")})
