"""Who is asked in which order: the environment first, then the capability's file; nothing is left out in silence."""

from __future__ import annotations

import json

import pytest

from specloom.model.model import Model
from specloom.runtime.configuration import ROUTING, SINGLE, RoutingError, parse_routing, plan_routes
from tests.support.spec_library import weave_texts

EVERYONE = frozenset({"alpha", "beta", "gamma"})
CAPABILITY = """\
spec: capability/1
name: find
title: Finding
description: Pages for a query.
routing: {key: find, order: [gamma, alpha]}
arguments: {query: {type: text, description: What is asked.}}
row: {url: {type: url, required: true, description: The address.}}
"""


def provider(name: str) -> str:
    return f"""\
spec: provider/1
name: {name}
title: {name}
config: {{{name.upper()}_KEY: {{description: The key., secret: true, required: true}}}}
service: {{base: https://{name}.example, headers: {{K: =config.{name.upper()}_KEY}}}}
operations:
  find: {{input: [query], steps: [{{get: /s, query: {{q: =args.query}}, json: {{map: {{url: url}}}}}}]}}
"""


@pytest.fixture(scope="module")
def model() -> Model:
    return weave_texts(CAPABILITY, *(provider(name) for name in EVERYONE), base=False).model


def order(model: Model, environ: dict[str, str], configured: frozenset[str] = EVERYONE) -> tuple[str, ...]:
    return plan_routes(model, configured, environ).orders["find"]


def test_without_a_setting_the_capability_decides_and_others_are_asked_only_by_name(model: Model) -> None:
    routes = plan_routes(model, EVERYONE, {})

    assert routes.orders["find"] == ("gamma", "alpha")
    assert routes.routed
    assert routes.warnings == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("beta, alpha", ("beta", "alpha")),
        ('{"find": "beta,alpha", "default": "gamma"}', ("beta", "alpha")),
        ('{"find": ["alpha", " beta "]}', ("alpha", "beta")),
        ('{"default": "beta"}', ("beta",)),
        ("  ", ("gamma", "alpha")),
    ],
)
def test_the_routing_variable_decides_in_either_form(model: Model, text: str, expected: tuple[str, ...]) -> None:
    assert order(model, {ROUTING: text}) == expected


def test_one_provider_for_everything_gives_way_to_a_routing(model: Model) -> None:
    assert order(model, {SINGLE: "beta"}) == ("beta",)
    assert order(model, {SINGLE: "beta", ROUTING: "alpha"}) == ("alpha",)


def test_a_provider_without_its_settings_is_not_asked(model: Model) -> None:
    assert order(model, {}, frozenset({"alpha"})) == ("alpha",)
    assert not plan_routes(model, frozenset({"alpha"}), {}).routed


def test_names_that_cannot_be_asked_are_left_out_with_a_warning(model: Model) -> None:
    routes = plan_routes(
        model, frozenset({"alpha"}), {ROUTING: '{"find": "beta,nobody,alpha", "images": "x"}', SINGLE: "noone"}
    )

    assert routes.orders["find"] == ("alpha",)
    assert routes.warnings == (
        f"{ROUTING}: nothing is routed by 'images'; known: find, default",
        f"{SINGLE} is 'noone', which is not a provider; known: alpha, beta, gamma",
        "routing: 'beta' is not configured; set BETA_KEY",
        "routing: 'nobody' is not a provider",
    )


@pytest.mark.parametrize("text", ["{", '{"web": 5}', '{"web": [1]}', "{}x", '{"web": {"a": 1}}'])
def test_a_routing_that_cannot_be_read_is_one_sentence(text: str) -> None:
    with pytest.raises(RoutingError) as caught:
        parse_routing(text)
    assert str(caught.value).startswith(ROUTING)
    assert "\n" not in str(caught.value)


def test_names_may_be_written_in_any_case(model: Model) -> None:
    assert order(model, {ROUTING: "Beta, ALPHA"}) == ("beta", "alpha")
    assert order(model, {ROUTING: '{"find": ["Alpha"]}'}) == ("alpha",)
    assert order(model, {SINGLE: "Beta"}) == ("beta",)


def test_those_in_a_route_who_lack_a_setting_are_known(model: Model) -> None:
    found = plan_routes(model, frozenset({"alpha"}), {ROUTING: "beta,alpha,nobody,beta"})

    assert found.unmet["find"] == ("beta",)
    assert plan_routes(model, frozenset({"alpha"}), {}).unmet["find"] == ()


def test_a_routing_is_read_as_it_was_written() -> None:
    assert parse_routing("a,,b ,") == {"default": ["a", "b"]}
    assert parse_routing(json.dumps({"web": "a", "default": ["b"]})) == {"web": ["a"], "default": ["b"]}


def test_a_name_that_stands_twice_is_asked_once(model: Model) -> None:
    assert order(model, {ROUTING: "beta,alpha,beta"}) == ("beta", "alpha")


def test_a_provider_that_cannot_do_it_is_left_out_with_a_warning() -> None:
    other = (
        CAPABILITY.replace("name: find", "name: look").replace("key: find", "key: look").replace("[gamma, alpha]", "[]")
    )
    model = weave_texts(CAPABILITY, other, *(provider(name) for name in EVERYONE), base=False).model

    routes = plan_routes(model, EVERYONE, {ROUTING: '{"look": "alpha", "find": "beta"}'})

    assert routes.orders == {"find": ("beta",), "look": ()}
    assert routes.warnings == ("routing: 'alpha' does not offer 'look'",)


def test_a_routing_for_everything_is_no_reason_to_warn_of_what_a_provider_cannot_do() -> None:
    other = (
        CAPABILITY.replace("name: find", "name: look").replace("key: find", "key: look").replace("[gamma, alpha]", "[]")
    )
    model = weave_texts(CAPABILITY, other, *(provider(name) for name in EVERYONE), base=False).model

    assert plan_routes(model, EVERYONE, {ROUTING: "beta"}).warnings == ()
