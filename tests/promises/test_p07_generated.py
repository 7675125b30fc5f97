"""P7: what is generated is the same bytes each time, and a file that is not what would be generated is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.authoring.docs import find_drifts, run
from specloom.specs.library import shipped_root
from tests.support.demo_specs import TOOL, edit, write_demo


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with specs of its own and everything that is generated from them."""
    root = write_demo(tmp_path / "checkout")
    (root / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    assert run(root=root) == 0
    return root


def generated(root: Path) -> dict[str, bytes]:
    specs = ("providers.d/", "tools.d/", "lenses/", "pyproject.toml")
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(specs)}


def test_generating_twice_gives_the_same_bytes(checkout: Path, tmp_path: Path) -> None:
    other = write_demo(tmp_path / "elsewhere")
    (other / "pyproject.toml").write_text("[project]\n", encoding="utf-8")

    assert run(root=other) == 0

    assert generated(other) == generated(checkout)
    assert {".env.example", "server.json", "docs/reference/tools.md", "schema/tool.json"} <= generated(checkout).keys()


def test_an_untouched_checkout_passes_and_the_check_writes_nothing(checkout: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in checkout.rglob("*")}

    assert run(check=True, root=checkout) == 0

    assert {path: path.stat().st_mtime_ns for path in checkout.rglob("*")} == before


@pytest.mark.parametrize("name", [".env.example", "server.json", "docs/reference/tools.md", "schema/provider.json"])
@pytest.mark.parametrize("change", [b"%s more", b" %s", b"", None])
def test_a_changed_generated_file_is_found_and_named(
    checkout: Path, name: str, change: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    file = checkout / name
    if change is None:
        file.unlink()
    else:
        file.write_bytes(change.replace(b"%s", file.read_bytes()))
    capsys.readouterr()

    assert run(check=True, root=checkout) == 1

    assert name in capsys.readouterr().out.splitlines()[-1]


def test_changed_line_ends_are_found(checkout: Path) -> None:
    file = checkout / ".env.example"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))

    assert [drift.path for drift in find_drifts(checkout)] == [".env.example"]


def test_a_page_that_is_no_longer_made_is_found(checkout: Path) -> None:
    (checkout / "docs/reference/old.md").write_text("old\n", encoding="utf-8")

    assert [drift.path for drift in find_drifts(checkout)] == ["docs/reference/old.md"]


def test_a_changed_spec_without_its_pages_is_found_and_generating_repairs_it(checkout: Path) -> None:
    file = checkout / TOOL
    text = edit(file.read_text(encoding="utf-8"), "description: How many.", "description: How many pages.")
    file.write_text(text, encoding="utf-8")

    before, _, after = run(check=True, root=checkout), run(root=checkout), run(check=True, root=checkout)

    assert (before, after) == (1, 0)


def test_what_is_generated_in_this_repository_is_up_to_date() -> None:
    if not (shipped_root() / "pyproject.toml").is_file():
        pytest.skip("the specs are those of an installed package")

    assert [drift.path for drift in find_drifts(shipped_root())] == []
