"""`specloom explain --code`: the code of a tool or provider, as a person reads it."""

from __future__ import annotations

import ast

import pytest

from specloom.authoring import code_lines
from specloom.cli.main import main
from specloom.core import Fault
from specloom.model import SPEC
from tests.support.shipped import shipped_model


@pytest.mark.parametrize("name", ["web_search", "scrape_page", "brave", "edgar"])
def test_the_code_is_whole_and_each_statement_has_its_line(name: str) -> None:
    lines = code_lines(shipped_model(), name)

    module: dict[str, object] = {}
    exec("\n".join(lines), module)
    assert module[SPEC].name == name  # type: ignore[attr-defined]
    assert len([line for line in lines if line.startswith("# line ")]) > 20
    assert not [line for line in lines if len(line) > 120 and line.startswith("field_")]


def test_the_function_of_an_expression_stands_under_its_line() -> None:
    lines = code_lines(shipped_model(), "web_search")

    at = next(index for index, line in enumerate(lines) if "lookup('lenses', args.lens)" in line)
    (line,) = [line for line in lines[:at] if line.startswith("# line ")][-1:]
    assert f"def line_{line.removeprefix('# line ')}(context):" in lines[at - 4 : at]
    ast.parse("\n".join(lines))


def test_what_does_not_exist_is_told_with_the_nearest_name() -> None:
    with pytest.raises(Fault, match="no tool and no provider is called 'brav'; did you mean \"brave\""):
        code_lines(shipped_model(), "brav")


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--code", "brave"]) == 0

    assert "SPEC = provider_" in capsys.readouterr().out
    assert main(["explain", "--code", "web_search", "query=otters"]) == 2
    assert "leave them out" in capsys.readouterr().err
