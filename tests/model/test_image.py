"""The image of a model: what is loaded and when, and the files that are never run."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from specloom.authoring.incremental.memory import Memory
from specloom.authoring.incremental.verdicts import Check
from specloom.compiler import make_image
from specloom.core import cache_folder
from specloom.model import KINDS, Image, ImageError, load_model
from specloom.model import image as image_module
from specloom.server import served
from specloom.server.served import find_digest, load_served, model_path
from specloom.specs import shipped_root
from tests.support.demo_specs import weave_demo, write_demo


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "kept" / "model.image"
    found.parent.mkdir(mode=0o700)
    found.write_bytes(make_image(weave_demo(write_demo(tmp_path / "specs"))[0], "stamp"))
    found.chmod(0o600)
    return found


def test_a_spec_is_loaded_when_it_is_first_asked_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    load = Image.load

    def note(self: Image, kind: str, name: str = "") -> object:
        loaded.append(f"{kind}/{name}")
        return load(self, kind, name)

    monkeypatch.setattr(Image, "load", note)
    model = load_model(Image(str(path)))

    assert loaded == ["heads/"]
    assert "demo_find" in model.tools
    assert list(model.heads.tools) == list(model.tools)
    assert loaded == ["heads/"]
    assert model.tools["demo_find"] is model.tools["demo_find"]
    assert loaded == ["heads/", "tools/demo_find"]
    with pytest.raises(KeyError):
        model.tools["demo_lose"]


def load_all(path: Path) -> None:
    model = load_model(Image(str(path)))
    for kind in KINDS:
        list(getattr(model, kind).values())


@pytest.mark.parametrize("at", [5, 40, 70, 200, -1, -200])
def test_a_damaged_image_is_told_and_not_run(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(data)

    with pytest.raises(ImageError, match=r"damaged|no image"):
        load_all(path)


@pytest.mark.parametrize("length", [0, 3, 30, 60, 300])
def test_an_image_that_was_cut_off_is_told(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])

    with pytest.raises(ImageError, match=r"damaged|no image|empty"):
        Image(str(path))


def test_an_image_for_another_interpreter_is_not_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_module, "interpreter", lambda: "other-99 0000")

    with pytest.raises(ImageError, match="another interpreter"):
        Image(str(path))


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
@pytest.mark.parametrize("others", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_not_run(path: Path, others: int) -> None:
    path.chmod(others)

    with pytest.raises(ImageError, match="can be written by others"):
        Image(str(path))


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_nor_is_one_in_a_folder_that_others_can_write(path: Path) -> None:
    path.parent.chmod(0o777)

    with pytest.raises(ImageError, match="can be written by others"):
        Image(str(path))

    path.parent.chmod(0o1777)
    assert Image(str(path)).digest


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
@pytest.mark.parametrize("of", ["file", "folder"])
def test_nor_is_what_another_user_owns(path: Path, of: str) -> None:
    os.chown(path if of == "file" else path.parent, 12345, 12345)

    with pytest.raises(ImageError, match="can be written by others"):
        Image(str(path))


# --- The model that is served -----------------------------------------------------------------------------------------


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "SPECLOOM_PATH": str(write_demo(tmp_path / "own"))}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A home with the image of its specs, and a copy of it as it was: compiling all of them takes seconds."""
    home, copy = (tmp_path_factory.mktemp("image") / name for name in ("home", "copy"))
    load_served({"HOME": str(home), "SPECLOOM_PATH": str(write_demo(home / "own"))})
    shutil.copytree(home, copy)
    return home, copy


@pytest.fixture
def kept(compiled: tuple[Path, Path]) -> dict[str, str]:
    """The environment of a home that has its image, made as it was before each test."""
    home, copy = compiled
    shutil.rmtree(home)
    shutil.copytree(copy, home)
    served.forget_opened()
    return {"HOME": str(home), "SPECLOOM_PATH": str(home / "own")}


def test_the_second_start_compiles_nothing(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_served(environ).model
    monkeypatch.setattr("specloom.compiler.build.weave_from", None)

    again = load_served(environ)

    assert again.model.digest == first.digest == find_digest(environ)
    assert list(again.model.tools) == list(first.tools)


def test_a_changed_spec_is_compiled_anew(kept: dict[str, str]) -> None:
    first = load_served(kept).model
    tool = next((Path(kept["SPECLOOM_PATH"]) / "tools.d").rglob("demo_find.yaml"))
    tool.write_text(tool.read_text().replace("title: ", "title: New: ", 1).replace("title: New: ", "title: Newly "))

    again = load_served(kept).model

    assert again.digest != first.digest
    assert again.tools["demo_find"].title.startswith("Newly ")


def test_a_changed_template_of_pages_is_served_as_it_is_now(environ: dict[str, str], tmp_path: Path) -> None:
    template = tmp_path / "own" / "templates" / "pages" / "sample.md.j2"
    template.parent.mkdir(parents=True)
    texts = ("# {{ rows.found }}\n", "## {{ rows.found }}, at last\n")
    served = []
    for text in texts:
        template.write_text(text, encoding="utf-8")
        served.append(load_served(environ).model.templates["sample"].text)

    assert (*served,) == texts


def test_what_has_errors_is_not_kept(environ: dict[str, str], tmp_path: Path) -> None:
    tool = next((tmp_path / "own" / "tools.d").rglob("demo_find.yaml"))
    tool.write_text(tool.read_text() + "\nsurprise: 1\n")

    served = load_served(environ)

    assert served.lost
    assert not Path(model_path(environ)).exists()


def test_an_image_that_may_not_be_used_is_made_again(kept: dict[str, str]) -> None:
    path = Path(model_path(kept))
    whole = path.read_bytes()
    path.write_bytes(whole[:500])

    assert "demo_find" in load_served(kept).model.tools
    assert path.read_bytes() == whole


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_the_image_is_for_its_owner_alone(kept: dict[str, str]) -> None:

    assert Path(model_path(kept)).stat().st_mode & 0o077 == 0
    assert Path(cache_folder(kept)).stat().st_mode & 0o077 == 0


def test_a_home_that_cannot_be_written_only_costs_time(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    served = load_served({**environ, "SPECLOOM_CACHE_DIR": str(tmp_path / "file" / "below")})

    assert "demo_find" in served.model.tools


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="there is no list of what is mapped here")
def test_what_was_loaded_of_an_image_is_not_kept_in_memory_a_second_time(path: Path) -> None:
    model = load_model(Image(str(path)))
    for kind in KINDS:
        list(getattr(model, kind).values())

    lines = Path("/proc/self/smaps").read_text(encoding="ascii", errors="replace").splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.endswith(str(path)))
    resident = next(line for line in lines[at:] if line.startswith("Rss:"))
    assert resident.split()[1] == "0"


def test_a_command_looks_once_at_the_files_that_it_opens_and_works_on(
    kept: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    look = served.stamp_everything
    monkeypatch.setattr(served, "stamp_everything", lambda given: looks.append("") or look(given))

    served.open_tables(kept)
    load_served(kept)
    assert len(looks) == 1

    load_served(kept)
    assert len(looks) == 2

    served.open_tables(kept)
    served.forget_opened()
    load_served(kept)
    assert len(looks) == 4

    served.open_tables(kept)
    monkeypatch.setattr(served, "UNCHANGED", -1.0)
    load_served(kept)
    assert len(looks) == 6


# --- One provider that was compiled anew ------------------------------------------------------------------------------


OWN = "providers.d/demo.yaml"


def change(environ: dict[str, str], old: str, new: str, path: str = OWN) -> None:
    file = Path(environ["SPECLOOM_PATH"]) / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: Demo\n", "title: Another title\n"),
        ("spec: provider/1\n", "# one line further down\nspec: provider/1\n"),
        ("since: {day: d, week: w}", "since: {day: today, week: w}"),
        ("notes: For tests.", "notes: For other tests."),
        ("description: The key.", "description: Another key."),
    ],
)
def test_a_change_that_no_other_spec_reads_compiles_that_provider_alone(
    kept: dict[str, str], monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    change(kept, old, new)

    with monkeypatch.context() as patched:
        patched.setattr("specloom.compiler.build.weave_from", None)
        model = load_served(kept).model
    made = Path(model_path(kept)).read_bytes()
    Path(model_path(kept)).unlink()
    load_served(kept)

    assert made == Path(model_path(kept)).read_bytes()
    assert model.providers["demo"].title in ("Demo", "Another title")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (OWN, "input: [query, num_results, time_range]", "input: [query, time_range]"),
        (OWN, "name: demo\n", "name: demos\n"),
        (OWN, "title: Demo\n", "titel: Demo\n"),
        ("lenses/demo_field.yaml", "title: ", "title: My "),
        ("tools.d/research/demo_find.yaml", "title: ", "title: My "),
        ("providers.d/capabilities/demo_pages.yaml", "title: ", "title: My "),
    ],
)
def test_a_change_that_others_may_read_compiles_everything(
    kept: dict[str, str], monkeypatch: pytest.MonkeyPatch, path: str, old: str, new: str
) -> None:
    change(kept, old, new, path)
    monkeypatch.setattr("specloom.compiler.build.weave_from", None)

    with pytest.raises(TypeError):
        load_served(kept)


def test_so_does_a_change_of_two_files_and_a_file_that_is_new(
    kept: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Path(kept["SPECLOOM_PATH"]) / OWN
    own.with_name("other.yaml").write_text(
        own.read_text(encoding="utf-8").replace("name: demo\n", "name: other\n"), encoding="utf-8"
    )
    assert "other" in load_served(kept).model.providers
    for path in (own, own.with_name("other.yaml")):
        path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    monkeypatch.setattr("specloom.compiler.build.weave_from", None)

    with pytest.raises(TypeError):
        load_served(kept)


class CompileOnly(Check):
    """A check that compiles and runs no example."""

    def _check_examples(self) -> None:
        pass

    def _check_prompts(self) -> None:
        pass


def test_other_specs_read_nothing_of_a_provider_but_what_an_image_compares() -> None:
    """Whoever lets the compiler of tools read more of a provider has to compare that as well; see `remake_image`."""
    compared = re.compile(
        r"providers(\t\w+(\tname|\tpages.*|\toperations(\t\w+(\tname|\tcapability|\tinput|\targuments_used)?)?)?)?"
    )
    check = CompileOnly([shipped_root()], Memory())
    check.run()
    reading = {
        name: [path for path in verdict.reads if path.startswith("providers") and not compared.fullmatch(path)]
        for name, verdict in check.verdicts.items()
        if name.partition(" ")[0] in ("tool", "toolset", "resource", "collection", "order", "provider", "lens")
    }

    assert {name: paths for name, paths in reading.items() if paths} == {}
    assert any(path.endswith("\targuments_used") for verdict in check.verdicts.values() for path in verdict.reads)
