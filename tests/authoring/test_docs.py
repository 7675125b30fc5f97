"""Generated files are up to date, links lead somewhere, and the specs in the prose do what they say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from specloom.authoring import docs
from specloom.authoring.check import judge_one
from specloom.authoring.docs import (
    list_kinds,
    to_cell,
    to_code,
    to_comment,
    to_duration,
    to_json,
    to_pretty,
    to_rate,
    to_size,
)
from specloom.authoring.examples.run import check_examples
from specloom.compiler.build import weave_from
from specloom.core.diagnostics import Report, render
from specloom.core.environment import VARIABLES, VariableError, read_variable
from specloom.core.limits import parse_rate
from specloom.plugins.registry import PROCEDURES, load_hooks
from specloom.specs.grammar import GRAMMARS
from specloom.specs.library import shipped_root
from specloom.specs.yaml import parse_source, to_plain
from tests.support.shipped import shipped_model, shipped_specs

ROOT = Path(__file__).parents[2]
PROSE = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
FOLDERS = {
    "capability": "providers.d/capabilities",
    "provider": "providers.d",
    "tool": "tools.d/demo",
    "toolset": "tools.d",
    "lens": "lenses",
    "collection": "collections.d",
    "resource": "resources.d",
}


# --- generated files ------------------------------------------------------------------------------------------------


@cache
def generated() -> dict[str, str]:
    model, library, _ = shipped_specs()
    return docs.generate(model, library)


def test_generating_twice_gives_the_same_bytes() -> None:
    model, library, _ = shipped_specs()

    again = docs.generate(model, library)

    assert again == generated()


@pytest.mark.parametrize("path", sorted(generated()))
def test_a_generated_file_says_which_command_makes_it(path: str) -> None:
    text = generated()[path]

    where = text if path.endswith(("server.json", "manifest.json")) else text.splitlines()[0]

    assert "specloom docs" in where
    assert text.endswith("\n")
    assert not re.search(r"[ \t]$|\n\n\n\n", text, re.MULTILINE) or path.endswith(".json")


def test_every_tool_provider_and_variable_is_in_the_reference() -> None:
    model, pages = shipped_model(), generated()

    missing = [
        *(name for name in model.tools if f"\n## {name}\n" not in pages["docs/reference/tools.md"]),
        *(name for name in model.providers if f"\n## {name}\n" not in pages["docs/reference/providers.md"]),
        *(name for name in model.capabilities if f"\n## {name}\n" not in pages["docs/reference/capabilities.md"]),
        *(name for name in model.collections if f"\n## {name}\n" not in pages["docs/reference/collections.md"]),
        *(name for name in model.resources if f"\n## {name}\n" not in pages["docs/reference/resources.md"]),
        *(use.name for use in docs.list_uses(model) if f"\n# {use.name}=" not in pages[".env.example"]),
        *(name for name in VARIABLES if f"| `{name}` |" not in pages["docs/reference/configuration.md"]),
    ]

    assert model.tools
    assert not missing


def test_every_key_of_the_grammar_is_in_the_reference() -> None:
    kinds = {kind: {row[0] for table in tables for row in table.rows} for kind, tables in list_kinds().items()}

    assert kinds.keys() == GRAMMARS.keys()
    assert {"spec", "each", "retry_after", "shard", "has_key"} - kinds["provider"] == {"has_key"}
    assert {"refuse_when", "descending", "always_say"} <= kinds["tool"]


def test_rows_of_tables_have_as_many_cells_as_their_heads() -> None:
    """Text of specs is full of bars; one that is not escaped breaks the table."""
    wrong = []
    for path, text in generated().items():
        width = 0
        for number, line in enumerate(text.splitlines(), 1):
            if not path.endswith(".md") or not line.startswith("|"):
                width = 0
                continue
            cells = len(re.findall(r"(?<!\\)\|", line))
            width = width or cells
            if cells != width:
                wrong.append(f"{path}:{number}")

    assert not wrong


def test_registry_metadata_names_secrets_as_such_and_stays_short() -> None:
    said = json.loads(generated()["server.json"])

    variables = {one["name"]: one for one in said["packages"][0]["environmentVariables"]}

    assert said["name"] == "io.github.specloom/specloom"
    assert len(said["description"]) <= 100
    assert variables["SPECLOOM_CACHE_KEY"]["isSecret"]
    assert all(isinstance(one.get("default", ""), str) for one in variables.values())
    assert f"<!-- mcp-name: {said['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_form_of_the_registry_begins_with_what_matters_and_ends_with_servers_over_http() -> None:
    said = json.loads(generated()["server.json"])

    names = [one["name"] for one in said["packages"][0]["environmentVariables"]]
    meta = said["_meta"]["io.modelcontextprotocol.registry/publisher-provided"]
    at = [names.index(one["first"]) for one in meta["settings"]]
    assert names[:4] == ["BRAVE_API_KEY", "EXA_API_KEY", "OPENALEX_EMAIL", "SPECLOOM_TOOLSETS"]
    assert at == [sum(one["count"] for one in meta["settings"][:number]) for number in range(len(at))]
    assert sum(one["count"] for one in meta["settings"]) == len(names) == len(set(names))
    assert meta["settings"][-1]["title"] == "Servers over HTTP"
    assert {"HTTP_CSP", "OAUTH_AUDIENCE", "PORT"} <= set(names[at[-1] :])
    assert not {"SPECLOOM_CACHE", "FRED_API_KEY"} & set(names[at[-1] :])
    # The registry refuses more.
    assert len(json.dumps(meta)) <= 4096


def test_every_variable_that_the_form_puts_last_is_one() -> None:
    table = yaml.safe_load((Path(docs.__file__).parent / "registry.yaml").read_text(encoding="utf-8"))

    assert set(table["http"]) <= set(VARIABLES)
    assert {name for name in VARIABLES if name.startswith(("HTTP_", "OAUTH_", "RATE_LIMIT_"))} <= set(table["http"])


def test_a_setting_that_does_nothing_alone_says_what_it_goes_with() -> None:
    said = json.loads(generated()["server.json"])

    texts = {one["name"]: one["description"] for one in said["packages"][0]["environmentVariables"]}

    assert texts["EPO_OPS_CONSUMER_KEY"].endswith(" Only with EPO_OPS_CONSUMER_SECRET.")
    assert texts["SEARXNG_HEADERS"].endswith(" Only with SEARXNG_URL.")
    assert "Only with" not in texts["BRAVE_API_KEY"]
    assert "Only with" not in texts["CROSSREF_EMAIL"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small checkout: specs without errors, and nothing generated yet."""
    for kind, block in first_specs().items():
        put(tmp_path, kind, block)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def test_writing_makes_all_files_and_then_none(checkout: Path) -> None:
    first = docs.write(checkout)

    second = docs.write(checkout)

    assert "docs/reference/tools.md" in first
    assert second == []
    assert docs.find_drifts(checkout) == []


def test_a_changed_spec_an_edited_page_and_a_leftover_are_drifts(checkout: Path, capsys: Any) -> None:
    docs.write(checkout)
    spec = checkout / "providers.d" / "demo.yaml"
    spec.write_text(spec.read_text(encoding="utf-8").replace("Demo library", "Another title"), encoding="utf-8")
    (checkout / "docs" / "reference" / "faults.md").write_text("edited\n", encoding="utf-8")
    (checkout / "schema" / "old.json").write_text("{}\n", encoding="utf-8")

    code = docs.run(check=True, root=checkout)

    said = capsys.readouterr().out
    assert code == 1
    assert {drift.path for drift in docs.find_drifts(checkout)} == {
        # The setting of its pace is told with its title.
        ".env.example",
        "docs/reference/configuration.md",
        "server.json",
        "docs/reference/faults.md",
        "docs/reference/providers.md",
        "schema/old.json",
    }
    assert "+Another title" in said
    assert "run `specloom docs` and commit the result" in said


def test_a_line_end_of_another_system_is_a_drift(checkout: Path) -> None:
    docs.write(checkout)
    page = checkout / ".env.example"
    page.write_bytes(page.read_bytes().replace(b"\n", b"\r\n"))

    assert [drift.path for drift in docs.find_drifts(checkout)] == [".env.example"]


def test_the_command_writes_checks_and_repairs(checkout: Path, capsys: Any) -> None:
    codes = [docs.run(check=True, root=checkout), docs.run(root=checkout), docs.run(check=True, root=checkout)]
    (checkout / "schema" / "old.json").write_text("{}\n", encoding="utf-8")
    codes += [docs.run(root=checkout), docs.run(check=True, root=checkout)]

    assert codes == [1, 0, 0, 0, 0]
    assert not (checkout / "schema" / "old.json").exists()
    assert "wrote docs/reference/tools.md" in capsys.readouterr().out


def test_nothing_is_generated_from_specs_with_errors(checkout: Path, capsys: Any) -> None:
    (checkout / "lenses" / "demo-field.yaml").write_text("spec: lens/1\nname: demo-field\n", encoding="utf-8")

    code = docs.run(root=checkout)

    assert code == 1
    assert "`specloom check`" in capsys.readouterr().out
    assert not (checkout / "docs").exists()


def test_outside_of_a_checkout_nothing_is_written(tmp_path: Path, capsys: Any) -> None:
    code = docs.run(root=tmp_path)

    assert code == 1
    assert "not a checkout" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_templates_are_found_where_the_shipped_specs_are() -> None:
    assert (shipped_root() / "templates" / "docs" / "tools.md.j2").is_file()


# --- how values are written -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (to_code("a"), "`a`"),
        (to_code("abs(`1`)"), "``abs(`1`)``"),
        (to_code("`1`"), "`` `1` ``"),
        (to_code("a | b"), r"`a \| b`"),
        (to_code(""), "`  `"),
        (to_cell("a |\n b <c>"), r"a \| b \<c>"),
        (to_comment("x " * 60), "x" + " x" * 49 + "\n# x" + " x" * 9),
        (to_pretty({"$comment": "x", "a": 1}), '{"$comment": "x",\n  "a": 1\n}'),
        (to_json("ü"), '"ü"'),
        (to_duration(0.25), "250 ms"),
        (to_duration(90), "90 s"),
        (to_duration(1800), "30 min"),
        (to_duration(86400), "1 d"),
        (to_size(5 * 1024 * 1024), "5 MiB"),
        (to_size(1000), "1000 B"),
        (to_rate(parse_rate("3/s")), "3/s"),
        (to_rate(parse_rate("10/min")), "10/min"),
        (to_rate(parse_rate("1/2s")), "1/2s"),
    ],
)
def test_values_are_written_as_people_write_them(made: str, wanted: str) -> None:
    assert made == wanted


def test_the_variables_that_the_engine_reads_are_those_that_are_documented() -> None:
    named: set[str] = set()
    for file in (ROOT / "engine" / "specloom").rglob("*.py"):
        if file.name != "variables.py":
            named |= set(
                re.findall(
                    r"""["']((?:SPECLOOM|CIRCUIT|CACHE|SEARCH|AUDIT|SESSION|MEMORY|WORKSPACE|STDIO|OAUTH|PUBLIC|JWKS"""
                    r"""|ENFORCE|REQUIRED|SCOPES|ALLOW|HTTP|ALLOWED|CORS|TRUST|TRUSTED|MAX_REQUEST|MAX_CALLS|DAILY"""
                    r"""|ADMIN|METRICS|REDIS|RATE_LIMIT(?!_TOOL))_[A-Z_]+|HOST|PORT|LOG_FORMAT)["']""",
                    file.read_text("utf-8"),
                )
            )

    load_hooks()
    # What procedures declare is documented with the tools that run them.
    named -= {setting for procedure in PROCEDURES.values() for setting in procedure.settings}
    assert named == set(VARIABLES)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("SPECLOOM_CACHE", "", True),
        ("SPECLOOM_CACHE", " Off ", False),
        ("CACHE_ISOLATION", "Tenant", "tenant"),
        ("CIRCUIT_FAILURE_THRESHOLD", "3", 3),
        ("CIRCUIT_RESET_TIMEOUT_SECONDS", "0.5", 0.5),
        ("SPECLOOM_PATH", "/a:/b", "/a:/b"),
        ("SPECLOOM_PATH", "", None),
    ],
)
def test_a_variable_is_read_in_its_kind(name: str, text: str, value: object) -> None:
    assert read_variable(name, {name: text}) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SPECLOOM_CACHE", "maybe"),
        ("CACHE_ISOLATION", "alone"),
        ("CIRCUIT_FAILURE_THRESHOLD", "2.5"),
        ("CIRCUIT_FAILURE_THRESHOLD", "0"),
        ("CIRCUIT_RESET_TIMEOUT_SECONDS", "nan"),
        ("CIRCUIT_RESET_TIMEOUT_SECONDS", "soon"),
    ],
)
def test_a_variable_that_cannot_be_read_names_itself_and_what_to_write(name: str, text: str) -> None:
    with pytest.raises(VariableError, match=rf"{name} is '{text}'; write "):
        read_variable(name, {name: text})


# --- prose ----------------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """One YAML block of a page: the words of its first comment, and its text."""

    page: Path
    line: int
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def find_blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```ya?ml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        mark = re.match(r"# (spec|wrong)(?:: (\w+))?\n", found[1])
        words = " ".join(filter(None, mark.groups())) if mark else ""
        yield Block(page, text.count("\n", 0, found.start()) + 2, words, found[1])


BLOCKS = [block for page in PROSE for block in find_blocks(page)]
WHOLE = [block for block in BLOCKS if block.mark == "spec"]
PARTS = [block for block in BLOCKS if block.mark.startswith("spec ")]
WRONG = [block for block in BLOCKS if block.mark.startswith("wrong ")]


def parse(text: str) -> dict[str, Any]:
    report = Report()
    source = parse_source("block.yaml", text.encode(), report)
    assert not report.found, report.found
    found = to_plain(source.root)
    assert isinstance(found, dict)
    return found


@cache
def first_specs() -> dict[str, dict[str, Any]]:
    """The first whole spec of each kind on the page about the language."""
    found: dict[str, dict[str, Any]] = {}
    for block in find_blocks(ROOT / "docs" / "language.md"):
        if block.mark == "spec":
            spec = parse(block.text)
            found.setdefault(spec["spec"].partition("/")[0], spec)
    return found


def put(root: Path, kind: str, spec: dict[str, Any]) -> Path:
    file = root / FOLDERS[kind] / f"{spec['name']}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    # JSON is YAML, and a spec starts with its first key either way.
    file.write_text(json.dumps(spec, ensure_ascii=False, indent=1), encoding="utf-8")
    # The prose names templates of views that come with the package.
    shutil.copytree(ROOT / "templates/views", root / "templates/views", dirs_exist_ok=True)
    return file


def put_templates(root: Path) -> None:
    """Every template that the page about the language shows, under the name that its spec gives it."""
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    for name, body in re.findall(r"`templates/pages/(\w+)\.md\.j2`:\n\n```jinja\n(.*?)```", text, re.DOTALL):
        file = root / "templates" / "pages" / f"{name}.md.j2"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body, encoding="utf-8")


def problems_of(root: Path) -> tuple[set[str], str]:
    """The codes of all errors under a root, and the text that their author sees."""
    model, library, report = weave_from([root])
    check_examples(library, model, report)
    return {one.code for one in report.errors}, "\n".join(render(one, library.sources) for one in report.errors)


def problems_beside_shipped(kind: str, spec: dict[str, Any]) -> tuple[set[str], str]:
    """The codes of all errors in a spec that is held against the shipped ones, and the text that its author sees."""
    path, text = f"{FOLDERS[kind]}/{spec['name']}.yaml", json.dumps(spec, ensure_ascii=False, indent=1)
    errors = judge_one(path, text.encode(), shipped_model()).errors
    return {one.code for one in errors}, "\n".join(render(one, {path: text}) for one in errors)


@pytest.mark.parametrize("block", WHOLE, ids=str)
def test_a_whole_spec_in_the_prose_compiles_and_its_examples_hold(block: Block, tmp_path: Path) -> None:
    spec = parse(block.text)
    kind = spec["spec"].partition("/")[0]
    on_language_page = block.page.name == "language.md"
    for other, first in first_specs().items() if on_language_page else ():
        put(tmp_path, other, first)

    put(tmp_path, kind, spec)

    # What stands elsewhere is for the shipped capabilities, and is judged beside them.
    codes, shown = problems_of(tmp_path) if on_language_page else problems_beside_shipped(kind, spec)
    assert not codes, shown


@pytest.mark.parametrize("block", PARTS, ids=str)
def test_a_part_of_a_spec_in_the_prose_compiles_in_its_place(block: Block, tmp_path: Path) -> None:
    kind = block.mark.partition(" ")[2]
    put_templates(tmp_path)
    for other, first in first_specs().items():
        part = parse(block.text) if other == kind else {}
        put(tmp_path, other, {**first, **part})

    codes, shown = problems_of(tmp_path)

    assert not codes, shown


@pytest.mark.parametrize("block", WRONG, ids=str)
def test_what_the_prose_calls_wrong_is_refused_with_that_code(block: Block, tmp_path: Path) -> None:
    for kind, first in first_specs().items():
        put(tmp_path, kind, {**first, **(parse(block.text) if kind == "provider" else {})})

    codes, _ = problems_of(tmp_path)

    assert block.mark.partition(" ")[2] in codes


def test_every_yaml_block_about_the_language_is_compiled() -> None:
    blocks = list(find_blocks(ROOT / "docs" / "language.md"))

    assert len(blocks) > 8
    assert all(block.mark for block in blocks)


def test_the_provider_in_the_readme_compiles_and_its_examples_hold() -> None:
    blocks = [block for block in BLOCKS if block.page.name == "README.md" and "spec: provider/1" in block.text]

    shown = [problems_beside_shipped("provider", parse(block.text))[1] for block in blocks]

    assert blocks
    assert not "".join(shown)


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)

    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as code hosts make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads)


def test_blocks_and_anchors_are_read_from_pages(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `b` C\n\n```yaml\n# wrong: E101\nx: 1\n```\n\n```yaml\na: 1\n```\n", encoding="utf-8")

    blocks = [(block.mark, block.line) for block in find_blocks(page)]

    assert blocks == [("wrong E101", 4), ("", 9)]
    assert anchors(page) == {"a-b-c"}
