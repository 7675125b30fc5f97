"""Resources: what their files may say, what is wrong with one, and that their examples can fail."""

from __future__ import annotations

import pytest

from specloom.authoring.examples.run import check_examples
from tests.support.spec_library import weave_texts

HEAD = "spec: resource/1\nname: offers\ntitle: Offers\ndescription: What a provider offers.\n"
ONE = HEAD + (
    'uri: "library://{name}"\n'
    "source: {one_of: {rows: engine.providers, by: name}}\n"
    "answer: {title: =row.title}\n"
    "examples:\n"
    "  - name: a provider is found by its name\n"
    "    args: {name: demo}\n"
    "    engine: {providers: [{name: demo, title: Demo}]}\n"
    "    expect: {answer: {title: Demo}}\n"
    "  - name: one that is not there is not found\n"
    "    args: {name: other}\n"
    "    engine: {providers: []}\n"
    "    expect: {missing: true}\n"
)


def complain(text: str) -> list[str]:
    """What compiling a resource and running its examples complains of."""
    woven = weave_texts(text)
    if not woven.report.errors:
        check_examples(woven.library, woven.model, woven.report)
    return [f"{one.code} {one.message}" for one in woven.report if one.place.file.startswith("memory")]


def test_a_resource_with_a_hole_is_a_template_and_fills_it_percent_decoded() -> None:
    resource = weave_texts(ONE).model.resources["offers"]

    assert complain(ONE) == []
    assert resource.is_template
    assert resource.tables == {"providers"}
    assert resource.match("library://a%2Fb") == {"name": "a/b"}
    assert resource.match("stats://a") is None
    assert resource.fill({"name": "a/b"}) == "library://a%2Fb"


@pytest.mark.parametrize(
    ("said", "instead", "complaint"),
    [
        ("by: name", "by: nam", "E110 the address has no hole 'nam'"),
        ("by: name}}", "by: name}}\ncomplete: {id: {collection: sessions}}", "E110 the address has no hole 'id'"),
        ("by: name}}", "by: name}}\ncomplete: {name: {collection: nope}}", "E110 no collection is called 'nope'"),
        ("by: name}}", "by: name}}\nchanges_with: {id: sessionId}", "E110 the address has no hole 'id'"),
        ("rows: engine.providers", "rows: engine.breakers", "E110 the rows have no field 'name'"),
        ("rows: engine.providers", "rows: engine.provider", "E202 unknown name 'provider'"),
        ("=row.title", "=row.titel", "E202 unknown name 'titel'"),
        ("{one_of: {rows: engine.providers, by: name}}", "{collection: nope}", "E110 no collection is called 'nope'"),
        (
            "{one_of: {rows: engine.providers, by: name}}",
            "{artifact: name}",
            "E105 a resource has an `answer`, or is an",
        ),
        (
            "{one_of: {rows: engine.providers, by: name}}",
            "{procedure: {name: nope}}",
            "E110 no procedure is called 'nope'",
        ),
        (
            "{answer: {title: Demo}}",
            "{answer: {title: Other}}",
            "E401 'a provider is found by its name': the answer has",
        ),
        ("{answer: {title: Demo}}", "{missing: true}", "E401 'a provider is found by its name': something is there"),
        ("args: {name: demo}", "args: {}", "E402 'a provider is found by its name' does not say what args.name is"),
        ("{providers: []}", "{lense: []}", "E402 the engine has no table 'lense'"),
        ("{answer: {title: Demo}}", "{answer: {}}", "W301 no example shows 'title' in the answer of offers"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(said: str, instead: str, complaint: str) -> None:
    assert said in ONE

    complaints = complain(ONE.replace(said, instead))

    assert any(one.startswith(complaint) for one in complaints), complaints


def test_two_resources_may_not_have_one_address() -> None:
    other = ONE.replace("name: offers", "name: others").replace('"library://{name}"', '"library://{name}"')

    report = weave_texts(ONE, other).report

    assert [one.code for one in report] == ["E011"]


def test_a_resource_without_an_example_is_an_error_unless_it_is_an_artifact() -> None:
    bare = ONE.partition("examples:")[0]
    artifact = HEAD + 'uri: "library://{name}"\nsource: {artifact: name}\n'

    assert complain(bare) == ["E403 offers has no example"]
    assert complain(artifact) == []


def test_resources_are_listed_in_their_order_and_then_by_name() -> None:
    texts = [
        HEAD.replace("offers", name) + f"uri: library://{name}\nanswer: {{count: =length(engine.providers)}}\n{more}"
        for name, more in (("gamma", ""), ("beta", ""), ("alpha", "order: 2\n"), ("delta", "order: 1\n"))
    ]

    assert list(weave_texts(*texts, base=False).model.resources) == ["delta", "alpha", "beta", "gamma"]
