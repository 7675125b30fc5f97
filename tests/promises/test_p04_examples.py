"""P4: every operation and every tool is shown by examples that run through the code that serves."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.authoring.coverage import check_coverage
from specloom.core.diagnostics import Report, render
from specloom.specs.library import Library, Spec
from specloom.specs.yaml import Listing, to_plain
from tests.support.demo_specs import PROVIDER, TEXTS, TOOL, codes, weave_demo, write_demo
from tests.support.shipped import shipped_examples, shipped_specs


@pytest.fixture(scope="module")
def shipped() -> tuple[Library, Report]:
    return shipped_specs().library, shipped_examples()[0]


def examples(spec: Spec) -> list[dict]:
    node = spec.root.get("examples")
    return [to_plain(one) for one in node.items] if isinstance(node, Listing) else []


def blocks(text: str) -> list[str]:
    """The examples of a demo spec as they are written."""
    return [f"  - name: {part}" for part in text.partition("examples:\n")[2].split("  - name: ")[1:]]


def test_the_shipped_specs_and_all_their_examples_pass(shipped: tuple[Library, Report]) -> None:
    library, report = shipped

    assert not report.errors, "\n".join(render(one, library.sources) for one in report.errors[:10])


def test_every_shipped_operation_and_tool_has_examples_of_its_own(shipped: tuple[Library, Report]) -> None:
    library, _ = shipped
    without = [f"tool {name}" for name, spec in library.of("tool").items() if not examples(spec)]
    for name, spec in library.of("provider").items():
        shown = {example["operation"] for example in examples(spec) if "operation" in example}
        without += [f"{name}.{one}" for one in to_plain(spec.root)["operations"] if one not in shown]

    assert library.of("provider")
    assert library.of("tool")
    assert without == []


@pytest.mark.parametrize("path", [PROVIDER, TOOL])
def test_a_spec_without_its_examples_is_refused(tmp_path: Path, path: str) -> None:
    head, _, _ = TEXTS[path].partition("examples:\n")
    rest = TEXTS[path].removeprefix(head)

    _, _, report = weave_demo(write_demo(tmp_path, {path: [(rest, "")]}))

    assert "E403" in codes(report) or "E102" in codes(report)


@pytest.mark.parametrize("number", range(4))
def test_removing_an_example_of_a_field_or_an_error_rule_is_noticed(tmp_path: Path, number: int) -> None:
    model, library, whole = weave_demo(write_demo(tmp_path / "whole"))
    check_coverage(library, model, whole)
    block = blocks(TEXTS[PROVIDER])[number]

    model, library, report = weave_demo(write_demo(tmp_path / "less", {PROVIDER: [(block, "")]}))
    check_coverage(library, model, report)

    assert [one.code for one in whole] == []
    assert [one.code for one in report] != []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: title", "title: name"),
        ("q: =args.query", "q: =upper(args.query)"),
        ("status == `401`", "status == `402`"),
        ("type(results) == 'array'", "status != `0`"),
    ],
)
def test_a_spec_that_does_other_than_its_examples_say_is_refused(tmp_path: Path, old: str, new: str) -> None:
    _, _, report = weave_demo(write_demo(tmp_path, {PROVIDER: [(old, new)]}))

    assert "E401" in codes(report)
