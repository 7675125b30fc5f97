"""Every diagnostic code has a fixture, and the comment that opens the fixture is what its author sees.

What a word of the language says beside that has a fixture of its own: `E105.resume.yaml`, or a folder of that name.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from specloom.authoring.coverage import check_coverage
from specloom.authoring.examples.run import check_examples
from specloom.compiler.build import weave
from specloom.core.diagnostics import CODES, Report, render
from specloom.specs.library import check_marks, check_overlooked, load_library

HERE = Path(__file__).parent / "golden"
BASE = HERE / "base"
UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"
FOLDERS = {
    "provider": "providers.d",
    "capability": "providers.d/capabilities",
    "tool": "tools.d/demo",
    "lens": "lenses",
    "collection": "collections.d",
    "resource": "resources.d",
}


FIXTURE = re.compile(r"([EW]\d+)(?:\.[a-z]+)?(?:\.yaml)?")


def list_fixtures() -> list[Path]:
    """The files and folders of all codes."""
    return sorted(path for path in HERE.iterdir() if FIXTURE.fullmatch(path.name))


def code_of(fixture: Path) -> str:
    """The code that a fixture shows."""
    return fixture.name.partition(".")[0]


def speaking_file(fixture: Path) -> Path:
    """The file whose first comment is the expected output: of a folder the one that has such a comment."""
    if fixture.is_file():
        return fixture
    files = sorted(fixture.rglob("*.yaml"))
    return next((file for file in files if read_comment(file)), files[0])


def read_comment(file: Path) -> str:
    """The expected output: the lines that open the file with `#`."""
    lines = []
    for line in file.read_bytes().decode("utf-8", "replace").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].removeprefix(" "))
    return "\n".join(lines)


def write_comment(file: Path, text: str) -> None:
    body = file.read_bytes()
    while body.startswith(b"#"):
        body = body.partition(b"\n")[2]
    comment = "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())
    file.write_bytes(comment.encode() + body)


def lay_out(fixture: Path, root: Path) -> None:
    """A folder stands as it is; a file goes where its kind belongs, under the name that it says."""
    if fixture.is_dir():
        shutil.copytree(fixture, root, dirs_exist_ok=True)
        return
    text = fixture.read_bytes()
    kind = re.search(rb"^spec: (\w+)/", text, re.MULTILINE)
    name = re.search(rb"^name: (\w+)", text, re.MULTILINE)
    place = root / FOLDERS[kind[1].decode() if kind else "provider"] / f"{name[1].decode() if name else 'sample'}.yaml"
    place.parent.mkdir(parents=True)
    place.write_bytes(text)


def output_of(fixture: Path, root: Path, *, coverage: bool) -> str:
    """All that `check` says about the base library with the fixture laid over it."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    lay_out(fixture, root)
    report = Report()
    library = load_library([BASE, root], report)
    model = weave(library, report)
    if coverage:
        check_overlooked([BASE, root], report)
        check_coverage(library, model, report)
    else:
        check_examples(library, model, report)
        check_marks(library.specs.values(), report)
    # An editor strips blanks at the ends of lines, and so may whoever edits a fixture.
    lines = (line.rstrip() for one in report for line in render(one, library.sources).splitlines())
    return "\n".join(lines).replace(f"{root.as_posix()}/", "")


@pytest.mark.parametrize("fixture", list_fixtures(), ids=lambda fixture: fixture.name.removesuffix(".yaml"))
def test_the_output_is_what_the_fixture_says(fixture: Path, tmp_path: Path) -> None:
    code = code_of(fixture)
    speaker = speaking_file(fixture)
    coverage = code.startswith("W")

    output = output_of(fixture, tmp_path / "root", coverage=coverage)
    # The comment is part of the file, so its length moves the lines that it speaks of.
    while UPDATE and output != read_comment(speaker):
        write_comment(speaker, output)
        output = output_of(fixture, tmp_path / "root", coverage=coverage)

    assert output == read_comment(speaker)
    assert re.match(rf"(error|warning)\[{code}\]", output), f"the fixture of {code} shows something else first"


def test_every_code_has_a_fixture_of_its_own_name() -> None:
    found = {code_of(path) for path in list_fixtures()}
    plain = {path.name.removesuffix(".yaml") for path in list_fixtures()}

    assert found <= set(CODES)
    assert sorted(set(CODES) - plain) == [], "add tests/compiler/golden/CODE.yaml for each"


def test_the_base_library_has_nothing_to_complain_about() -> None:
    report = Report()
    library = load_library([BASE], report)
    model = weave(library, report)
    check_coverage(library, model, report)

    assert list(report) == []
