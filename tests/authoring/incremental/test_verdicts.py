"""A check that starts from the last one says what a check of everything says, word for word."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specloom.authoring.check import SpecVerdict, find_verdict, judge
from specloom.authoring.incremental.memory import Memory
from specloom.authoring.incremental.verdicts import Check
from tests.authoring.test_check import FILES as LIGHTS
from tests.authoring.test_check import SLIPS
from tests.authoring.test_check_between_files import lay

GOLDEN = Path(__file__).parents[2] / "compiler" / "golden"
PROMPT = """\
---
title: Look it up
description: Looks a lighthouse up.
arguments: {light: {description: Its name., required: true}, field: {description: A field., catalogue: lenses}}
---
{% if has('find_lights') %}Call find_lights for {{ args.light }}.{% endif %} {{ args.field }}
"""
NOTES = """\
spec: tool/1
name: note_light
title: Note a lighthouse
description: Keeps a note, and tells the sites of a field.
annotations: {read_only: false, destructive: false, idempotent: true, open_world: false}
input:
  light: {type: string, required: true, max_length: 200, description: Its name.}
  field: {type: string, enum: lenses, default: nature, description: A field.}
plan:
  - name: keep it
    collect:
      parts:
        kept: {save: {into: notes, key: args.light, value: {text: args.light}}}
answer: {kept: "=length(parts.kept.rows)", sites: "=lookup('lenses', args.field).domains"}
examples:
  - name: a note is kept
    args: {light: Wolf Rock}
    expect: {answer: {kept: 1, sites: [nature.example]}, kept: [{in: notes, key: Wolf Rock, value: {text: Wolf Rock}}]}
  - name: a name that is as long as it may be
    args: {light: Wolf Rock}
    accept: [{light: {characters: 200}}]
"""
COLLECTION = """\
spec: collection/1
name: notes
title: Notes
description: What was noted.
scope: user
encryption: author
fields: {text: {type: text, required: true, description: What it says.}}
lifetime: 1h
"""


def build(root: Path) -> Path:
    """A house of every kind of spec, with pages of a site, a template and a prompt."""
    shutil.copytree(GOLDEN / "base", root)
    shutil.copytree(GOLDEN / "W309", root, dirs_exist_ok=True)
    page = root / "providers.d" / "sample.yaml"
    page.write_text(re.sub("(?m)^#.*\n", "", page.read_text(encoding="utf-8")), encoding="utf-8")
    lay(root)
    for path, text in {
        "templates/prompts/look.md.j2": PROMPT,
        "tools.d/coast/note_light.yaml": NOTES,
        "collections.d/notes.yaml": COLLECTION,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


class House:
    """Two layers and a cache; after every change both checks are held against each other."""

    def __init__(self, root: Path) -> None:
        self.base, self.own = build(root / "base"), root / "own"
        (self.own / "providers.d").mkdir(parents=True)
        self.environ = {"SPECLOOM_CACHE_DIR": str(root / "cache")}
        self._judged: dict[tuple[tuple[Path, bytes], ...], SpecVerdict] = {}
        self.check()

    def check(self) -> SpecVerdict:
        """The verdict, which is that of a check of everything."""
        roots = [self.base, self.own]
        state = tuple((one, one.read_bytes()) for one in self.files())
        if state not in self._judged:
            self._judged[state] = judge(roots)
        verdict, whole = find_verdict(roots, self.environ), self._judged[state]
        assert list(map(str, verdict.diagnostics)) == list(map(str, whole.diagnostics))
        assert (verdict.counts, verdict.sources) == (whole.counts, whole.sources)
        return verdict

    def files(self) -> list[Path]:
        return sorted(one for root in (self.base, self.own) for one in root.rglob("*") if one.is_file())


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def codes(verdict: SpecVerdict) -> list[str]:
    return [one.code for one in verdict.diagnostics]


def test_the_house_has_no_slips_but_two_addresses_that_no_example_shows(house: House) -> None:
    assert codes(house.check()) == ["W309", "W309"]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("providers.d/pharos.yaml", "  lights:\n", "  lamps:\n"),
        ("providers.d/pharos.yaml", "input: [num_results, region]", "input: [num_results]"),
        ("providers.d/pharos.yaml", "required: true, description: A key.", "description: A key."),
        ("providers.d/capabilities/lights.yaml", "type: number", "type: text"),
        ("providers.d/capabilities/lights.yaml", "  height: {", "  metres: {"),
        ("providers.d/capabilities/lights.yaml", "[pharos, lantern]", "[lantern]"),
        ("providers.d/capabilities/find.yaml", "name: find", "name: search"),
        ("providers.d/sample.yaml", "url: {at: url, required: true}", "url: url"),
        ("providers.d/sample.yaml", "hosts: [sample.example]", "hosts: [other.example]"),
        ("providers.d/almanac.yaml", "'\"Name of light\"'", "Name"),
        ("lenses/nature.yaml", "nature.example]", "nature.example, wood.example]"),
        ("lenses/nature.yaml", "domains: [nature.example]", "domains: []"),
        ("collections.d/notes.yaml", "{text: {type", "{body: {type"),
        ("collections.d/sessions.yaml", "  events: 200\n", ""),
        ("collections.d/notes.yaml", "scope: user", "scope: shared"),
        ("resources.d/lens.yaml", "lenses://{name}", "research://artifact/{name}"),
        ("tools.d/coast.yaml", "{read_light}", "{read_lamp}"),
        ("tools.d/coast/find_lights.yaml", "name: find_lights", "name: find_lamps"),
        ("tools.d/coast/find_lights.yaml", "by name or region.", "by name or region. " + "Words. " * 800),
        ("tools.d/coast/note_light.yaml", "into: notes", "into: sessions"),
        ("templates/prompts/look.md.j2", "has('find_lights')", "has('find_light')"),
        ("templates/prompts/look.md.j2", "args.field", "args.fields"),
        ("templates/pages/sample.md.j2", "}}", "}} {{ rows.others }}"),
    ],
)
def test_a_change_is_judged_as_by_a_check_of_everything_and_so_is_its_undoing(
    house: House, path: str, old: str, new: str
) -> None:
    first, file = codes(house.check()), house.base / path
    text = file.read_text(encoding="utf-8")
    assert old in text

    file.write_text(text.replace(old, new), encoding="utf-8")
    house.check()
    file.write_text(text, encoding="utf-8")

    assert codes(house.check()) == first


def test_a_slip_is_told_as_by_a_check_of_everything_and_is_gone_when_it_is_mended(house: House) -> None:
    first = codes(house.check())
    for stem, old, new, _ in SLIPS:
        path = house.base / LIGHTS[stem][0]
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

        assert set(codes(house.check())) - set(first), new

        path.write_text(text, encoding="utf-8")
        assert codes(house.check()) == first


def test_every_file_may_go_and_come_back(house: House) -> None:
    first = codes(house.check())
    for path in house.files():
        data = path.read_bytes()

        path.unlink()
        house.check()
        path.write_bytes(data)

        assert codes(house.check()) == first


def test_a_file_of_a_users_layer_takes_the_place_of_a_shipped_one_and_gives_it_back(house: House) -> None:
    first = codes(house.check())
    for name in ("pharos", "lights", "find_lights", "coast", "nature", "notes", "lens"):
        (path,) = house.base.rglob(f"{name}.yaml")
        own = house.own / path.relative_to(house.base)
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(path.read_text(encoding="utf-8").replace("title: ", "title: My "), encoding="utf-8")

        house.check()
        own.unlink()

        assert codes(house.check()) == first


def test_files_and_folders_that_are_odd_are_judged_as_by_a_check_of_everything(tmp_path: Path) -> None:
    base, environ = build(tmp_path / "base"), {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    alone = tmp_path / "alone" / "alpha.yaml"
    alone.parent.mkdir()
    alone.write_text((base / "providers.d/alpha.yaml").read_text(encoding="utf-8").replace("n: =", "m: ="), "utf-8")
    (base / "providers.d/huge.yaml").write_bytes(b"# " + b"x" * 5_000_000)
    (base / "providers.d/bytes.yaml").write_bytes(b"spec: provider/1\nname: \xff\n")
    (base / "providers.d/empty.yaml").write_bytes(b"")
    (base / "providers.d/two.yml").write_bytes(b"")
    (base / "lenses/lost.yaml").symlink_to(tmp_path / "nowhere")
    (base / "tools.d/coast/deep").mkdir()
    (base / "tools.d/coast/deep/alpha.yaml").write_bytes((base / "providers.d/alpha.yaml").read_bytes())
    (base / "templates/prompts/bad.md.j2").write_bytes(b"---\n\xff")
    layers = [
        [base],
        [base, alone],
        [base, tmp_path / "missing"],
        [base, alone, base],
        [alone],
        [base / "tools.d"],
        [base],
    ]

    for roots in layers:
        verdict, whole = find_verdict(roots, environ), judge(roots)

        assert list(map(str, verdict.diagnostics)) == list(map(str, whole.diagnostics)), roots
        assert verdict.counts == whole.counts
        assert verdict.remembered or verdict.sources == whole.sources


def test_what_is_wrong_in_one_file_hides_nothing_in_another(house: House) -> None:
    tool, slip = house.base / "tools.d/coast/note_light.yaml", house.base / "lenses/nature.yaml"
    tool.write_text(tool.read_text(encoding="utf-8").replace("value: {text: args.light}", "value: {}"), "utf-8")
    needed = [one for one in house.check().diagnostics if one.code == "E102"]

    slip.write_text(slip.read_text(encoding="utf-8").replace("makes: [", "makes: [x, "), "utf-8")

    assert [one for one in house.check().diagnostics if one.code == "E102"] == needed != []


_WORD = re.compile(r"[A-Za-z_]{3,}")


def _mutate(data: st.DataObject, house: House) -> None:
    """One of many ways to change one file."""
    path = data.draw(st.sampled_from(house.files()), "file")
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    at = data.draw(st.integers(0, len(lines) - 1), "line")
    match data.draw(st.sampled_from(["drop", "double", "swap", "shift", "word", "gone", "copy", "own"]), "how"):
        case "drop":
            del lines[at]
        case "double":
            lines.insert(at, lines[at])
        case "swap":
            lines[at - 1], lines[at] = lines[at], lines[at - 1]
        case "shift":
            lines.insert(0, "# one line further down")
        case "word":
            words = sorted(set(_WORD.findall(lines[at]))) or ["name"]
            word = data.draw(st.sampled_from(words), "word")
            lines = text.replace(word, f"{word}s").split("\n")
        case "gone":
            path.unlink()
            return
        case "copy":
            path = path.with_name(path.name.replace(".", "_too.", 1))
            lines = text.replace(f"name: {path.stem.removesuffix('_too')}", f"name: {path.stem}").split("\n")
        case "own":
            path = house.own / "providers.d" / path.name
    path.write_text("\n".join(lines), encoding="utf-8")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_whatever_is_changed_the_verdict_is_that_of_a_check_of_everything(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    house = House(tmp_path_factory.mktemp("house"))
    for _ in range(3):
        _mutate(data, house)
        house.check()


# --- what is checked again --------------------------------------------------------------------------------------------


def checked_after(tmp_path: Path, change: Callable[[Path], Any]) -> list[str]:
    """What a check does anew after a change, less that the files are read."""
    root = build(tmp_path / "base")
    first = Check([root], Memory())
    first.run()
    change(root)
    second = Check([root], first.kept)
    second.run()
    return sorted(one for one in second.checked if not one.startswith("file "))


def rewrite(path: str, old: str, new: str) -> Callable[[Path], Any]:
    def change(root: Path) -> None:
        text = (root / path).read_text(encoding="utf-8")
        assert old in text
        (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def test_nothing_is_checked_again_where_nothing_changed(tmp_path: Path) -> None:
    assert checked_after(tmp_path, lambda _: None) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: Pharos\n", "# a line more\ntitle: Pharos\n"),
        ("name: One, height: 21", "name: One, height: 21.0"),
        ("{at: label, required: true}", "{at: label, required: true, then: [text]}"),
    ],
)
def test_what_no_tool_reads_of_a_provider_checks_the_provider_alone(tmp_path: Path, old: str, new: str) -> None:
    path = "providers.d/pharos.yaml"

    assert checked_after(tmp_path, rewrite(path, old, new)) == [f"examples {path}", f"provider {path}"]


def test_what_an_operation_takes_checks_the_tools_that_ask_it(tmp_path: Path) -> None:
    path, tool = "providers.d/pharos.yaml", "tools.d/coast/find_lights.yaml"

    checked = checked_after(tmp_path, rewrite(path, "region: =args.region", "region: uk"))

    assert {f"tool {tool}", f"examples {tool}"} <= {*checked}
    assert "tool tools.d/demo/ask.yaml" not in checked


def test_a_changed_tool_checks_itself(tmp_path: Path) -> None:
    path = "tools.d/coast/find_lights.yaml"

    assert checked_after(tmp_path, rewrite(path, "title: Find l", "title: Look for l")) == [
        f"examples {path}",
        f"tool {path}",
    ]


def test_a_lens_checks_the_tools_that_look_into_it_and_no_other(tmp_path: Path) -> None:
    lens, tool = "lenses/nature.yaml", "tools.d/coast/note_light.yaml"

    told = checked_after(tmp_path / "told", rewrite(lens, "description: Sites", "notes: New.\ndescription: Sites"))
    read = checked_after(tmp_path / "read", rewrite(lens, "domains:", 'goggle: "https://goggle.example/n"\ndomains:'))

    assert told == [f"lens {lens}"]
    assert read == [f"examples {tool}", f"lens {lens}", f"tool {tool}"]
