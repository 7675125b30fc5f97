"""Prompt files are checked like specs: what is wrong, where, and what to try; and a broken one is not served."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.authoring.check import find_verdict, widen
from specloom.compiler.prompts import check_prompts
from specloom.core.diagnostics import Report, render
from specloom.specs.library import shipped_root
from specloom.specs.prompts import load_prompts, read_prompt

HEAD = "---\ntitle: Greeting\ndescription: Says hello.\n"
TOOLS = ("web_search", "news_search")


def write(folder: Path, text: str | bytes, name: str = "greeting") -> Path:
    path = folder / "templates" / "prompts" / f"{name}.md.j2"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def check(folder: Path, sources: dict[str, str] | None = None) -> list[str]:
    report = Report()
    check_prompts([folder / "first", folder], TOOLS, ("medical",), report, {} if sources is None else sources)
    return [
        f"{one.code} {one.place.line}:{one.place.column} {one.message}" + (f" ({one.hint})" if one.hint else "")
        for one in report
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello", "E007 1:1 a prompt begins with what it takes, between two lines of --- ("),
        ("---\n[\n---\nHi\n", "E001 3:"),
        ("---\n- a\n---\nHi\n", "E007 1:1 what a prompt takes is a mapping with a title and a description"),
        ("---\n\n---\nHi\n", "E007 1:1 what a prompt takes is a mapping with a title and a description"),
        ("---\ntitle: T\n---\nHi\n", "E102 2:1 a prompt needs the key 'description'"),
        (HEAD + "icon: I\n---\nHi\n", "E101 4:1 a prompt has no key 'icon'"),
        (HEAD + "title: T\n---\nHi\n", "E002 4:1 key 'title' stands twice"),
        (HEAD + "arguments: {a: {}}\n---\nHi\n", "E102 4:16 an argument needs the key 'description'"),
        (
            HEAD + "arguments: {a: {description: A, choices: [x], default: y}}\n---\n{{ args.a }}\n",
            "E104 4:56 the default of 'a' is none of its choices (x)",
        ),
        (HEAD + "arguments: {a: {description: A, catalogue: stars}}\n---\n{{ args.a }}\n", "E104 4:44 "),
        (HEAD + "arguments: {a: {description: A, choices: [x], catalogue: lenses}}\n---\n{{ args.a }}\n", "E105 4:"),
        (HEAD + "arguments: {a: {description: A, longest: 0}}\n---\n{{ args.a }}\n", "E104 4:42 "),
        (HEAD + "---\n \n", "E007 1:1 this prompt has no text (write it below the second line of ---)"),
        (HEAD.encode() + b"---\nHi \xff\n", "E006 5:4 the byte 0xFF"),
        (HEAD + "---\nHi\n{% if %}\n", "E201 6:1 the text does not parse: "),
        (HEAD + "---\nHi\n{{ 1 | quotd }}\n", "E203 6:1 the text does not compile: No filter named 'quotd'."),
        (HEAD + "---\nHi {{ who }}\n", "E202 5:7 unknown name 'who' (known: args, has)"),
        (
            HEAD + "arguments: {who: {description: Whom.}}\n---\n{{ args.who }}\n{{ args.whom }}\n",
            "E202 7:9 the prompt takes no 'whom' (did you mean \"who\"?)",
        ),
        (HEAD + '---\n{{ args["whom"] }}\n', "E202 5:10 the prompt takes no 'whom'"),
        (
            HEAD + "---\n\n{% if has('web_serch') %}x{% endif %}\n",
            "E202 6:12 there is no tool 'web_serch' (did you mean \"web_search\"?)",
        ),
        (
            HEAD + "arguments: {who: {description: Whom.}}\n---\nHi\n",
            "W307 1:1 the text does not use 'who' (use it or take it out)",
        ),
        (
            HEAD + "arguments: {a: {description: A, choices: [x, y], default: x}}\n---\n{{ {'x': 1}[args.a] }}\n",
            "E204 6:1 the text cannot be filled with a = 'y': 'dict object' has no attribute 'y' (ask for",
        ),
        (HEAD + "---\n{{ ''.__class__ }}\n", "E204 5:1 the text cannot be filled with no arguments: access to attri"),
    ],
)
def test_what_is_wrong_with_a_prompt_is_told_with_its_place(tmp_path: Path, text: str | bytes, found: str) -> None:
    write(tmp_path, text)

    problems = check(tmp_path)

    assert len(problems) == 1
    assert problems[0].startswith(found)


def test_all_that_is_wrong_is_told_at_once_and_shown_in_its_line(tmp_path: Path) -> None:
    write(tmp_path, HEAD + "---\nHi {{ args.who }} {{ args.how }}\n")
    write(tmp_path, "Hello", "Bad name")
    sources: dict[str, str] = {}
    report = Report()

    check_prompts([tmp_path], TOOLS, (), report, sources)

    assert [one.code for one in report] == ["E007", "E104", "E202", "E202"]
    assert "5 | Hi {{ args.who }} {{ args.how }}\n  |            ^^^\n" in render(list(report)[2], sources) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "---\nHi\n",
        "\ufeff" + HEAD.replace("\n", "\r\n") + "---\r\nHi\r\n",
        HEAD + "---\n{% for one in range(2) %}{{ one }}{% endfor %}{% set a = 1 %}{{ a }}\n",
        HEAD + "---\n{% if has('tool_of_another_layer') %}x{% endif %}\n",
        HEAD + "arguments: {l: {description: L, catalogue: lenses}}\n---\n{{ args.l | quoted }}\n",
    ],
)
def test_a_prompt_that_is_right_is_left_alone(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)

    assert check(tmp_path) == []
    assert list(load_prompts([str(tmp_path)])) == ["greeting"]


@given(st.binary(max_size=60))
def test_any_file_is_a_prompt_or_reported(data: bytes) -> None:
    report = Report()

    found = read_prompt("greeting", "greeting.md.j2", data, report)

    assert (found is None) == bool(report.errors)


def test_the_shipped_prompts_hold() -> None:
    report = Report()
    tools = [path.stem for path in (shipped_root() / "tools.d").rglob("*.yaml")]

    check_prompts([shipped_root()], tools, ("medical", "osint"), report, {})

    assert list(report) == []


def test_the_verdict_knows_of_prompts_whichever_way_they_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "own", "Hello")
    environ = {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    roots = widen([path], [])

    fresh, again = (find_verdict(roots, environ) for _ in range(2))
    write(tmp_path / "own", HEAD + "---\nHi\n")
    mended = find_verdict(roots, environ)

    assert roots == widen([tmp_path / "own"], []) == [tmp_path / "own"]
    assert (fresh.errors, again.errors, again.remembered, mended.errors) == (1, 1, True, 0)
    assert again.sources[again.diagnostics[0].place.file] == "Hello"
    assert widen([path], [tmp_path / "own"]) == []


@pytest.mark.process
def test_a_broken_prompt_is_not_served_and_the_sentence_says_where(tmp_path: Path) -> None:
    write(tmp_path, HEAD + "icon: I\n---\nHi\n")
    environ = {"SPECLOOM_PATH": str(tmp_path), "SPECLOOM_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}

    command = [sys.executable, "-m", "specloom", "serve"]
    ended = subprocess.run(command, check=False, env=environ, stdin=subprocess.DEVNULL, capture_output=True)

    assert ended.returncode == 2
    assert b"greeting.md.j2:4:1: a prompt has no key 'icon'; `specloom check` shows all that is wrong" in ended.stderr
