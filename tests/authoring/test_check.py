"""What an author gets wrong is told once: the slip itself, where it is, and nothing that only follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.authoring.check import SpecVerdict, find_verdict, judge
from specloom.compiler.build import weave
from specloom.core.diagnostics import Report, render
from specloom.specs.library import load_library

CAPABILITY = """\
spec: capability/1
name: lights
title: Lighthouses
description: Lighthouses of a coast.
routing: {key: lights, order: [pharos, lantern]}
arguments:
  query: {type: text, description: What is asked.}
  num_results: {type: integer, description: How many are wanted.}
  region: {type: text, description: The code of a country.}
row:
  id: {type: text, description: The upstream's id.}
  name: {type: text, required: true, description: Its name.}
  height: {type: number, description: Metres.}
"""
PHAROS = """\
spec: provider/1
name: pharos
title: Pharos
config:
  PHAROS_KEY: {secret: true, required: true, description: A key.}
service:
  base: https://pharos.example
  headers: {X-Api-Key: =config.PHAROS_KEY}
  limits: {rate: 10/s, timeout: 5s}
  errors:
    - {when: body.fault.code == 'NOKEY', kind: auth_required, message: body.fault.text}
operations:
  lights:
    input: [num_results, region]
    steps:
      - get: /lights
        query:
          limit: =clamp(args.num_results, `1`, `2`)
          region: =args.region
        paging: {cursor: {parameter: cursor, at: page.next}, most: 5, enough: length(rows) >= args.num_results}
        json:
          each: items
          map:
            id: {at: id, then: [text]}
            name: {at: label, required: true}
            height: {at: height, then: [number]}
examples:
  - name: pages are read until enough was found
    operation: lights
    args: {num_results: 2, region: uk}
    config: {PHAROS_KEY: k}
    replies:
      main:
        - json: {items: [{id: 1, label: One, height: "21"}], next: "1"}
        - json: {items: [{id: 2}, {id: 3, label: Three}]}
    expect:
      sent:
        main:
          - {get: "https://pharos.example/lights", headers: {X-Api-Key: k}, query: {limit: 2, region: uk}}
          - {query: {limit: 2, region: uk, cursor: "1"}}
      rows:
        - {id: "1", name: One, height: 21}
        - {id: "3", name: Three, height: null}
  - name: a missing key is told in the API's words
    operation: lights
    args: {num_results: 2}
    config: {PHAROS_KEY: k}
    replies: {main: {status: 401, json: {fault: {code: NOKEY, text: the key is missing}}}}
    expect: {error: auth_required, message: the key is missing}
"""
LANTERN = """\
spec: provider/1
name: lantern
title: Lantern
service: {base: https://lantern.example}
operations:
  lights:
    input: [query]
    steps:
      - get: /search.xml
        query: {q: =args.query}
        xml:
          each: //c:light
          namespaces: {c: "urn:lights"}
          map:
            id: "@ref"
            name: {at: c:name, required: true}
examples:
  - name: a light without a name is left out
    operation: lights
    args: {query: rock}
    replies:
      main: {text: <c xmlns="urn:lights"><light ref="a"><name>Wolf Rock</name></light><light ref="b"/></c>}
    expect:
      sent: {main: {get: "https://lantern.example/search.xml", query: {q: rock}}}
      rows: [{id: a, name: Wolf Rock}]
"""
TOOL = """\
spec: tool/1
name: find_lights
title: Find lighthouses
description: Finds lighthouses by name or region.
annotations: {read_only: true, destructive: false, idempotent: true, open_world: true}
input:
  query: {type: string, max_length: 200, description: What to look for.}
  region: {type: string, max_length: 2, description: The code of a country.}
  num_results: {type: integer, minimum: 1, maximum: 50, default: 5, clamp: true, description: How many.}
cache: {ttl: 30m, shape: 1}
plan:
  - name: the route, in order
    first_of: {providers: =route.lights, operation: lights}
    on: {error: next, empty: next}
answer:
  lights: {each: rows, map: {name: name, height: height}}
examples:
  - name: the first provider answers
    args: {query: wolf, region: uk}
    providers:
      pharos.lights: {rows: [{name: Wolf, height: 41}], sent: {region: uk, num_results: 5}}
    expect: {served_by: pharos, answer: {lights: [{name: Wolf, height: 41}]}}
  - name: what is as long as it may be
    args: {query: wolf}
    accept: [{query: {characters: 200}, region: uk, num_results: 50}]
"""
FILES = {
    "lights": ("providers.d/capabilities/lights.yaml", CAPABILITY),
    "pharos": ("providers.d/pharos.yaml", PHAROS),
    "lantern": ("providers.d/lantern.yaml", LANTERN),
    "find_lights": ("tools.d/coast/find_lights.yaml", TOOL),
}

SLIPS = [
    # The file
    ("pharos", "        query:\n", "       query:\n", "E001 pharos:17:8 not valid YAML: did not find expected '-'"),
    ("pharos", "        query:\n", "\tquery:\n", "E001 pharos:17:1 not valid YAML: found a tab character"),
    ("pharos", "title: Pharos", "title: Pha\0ros", "E001 pharos:3:11 not valid YAML: the character U+0000"),
    ("pharos", "title: Pharos", "title: Pharos\ntitle: Again", "E002 pharos:4:1 key 'title' stands twice"),
    ("pharos", "KEY: {secret", "KEY: &a {secret", "E003 pharos:5:15 &a names a value"),
    ("pharos", "KEY: {secret", "KEY: {<<: {}, secret", "E003 pharos:5:16 `<<` takes over the keys"),
    ("pharos", "title: Pharos", "title: !!str Pharos", "E004 pharos:3:8 !!str is a tag"),
    ("pharos", "name: pharos", "name: faros", "E009 pharos:2:7 the file is called 'pharos'"),
    ("pharos", "provider/1", "providor/1", "E010 pharos:1:7 'providor/1' is not a kind"),
    # The shape
    ("pharos", "limits:", "limit:", "E101 pharos:9:3 `service` has no key 'limit'"),
    ("pharos", "required: true, desc", "required: yes, desc", "E103 pharos:5:40 `required` should be true"),
    ("pharos", "timeout: 5s", "timeout: 5", "E103 pharos:9:33 `timeout` should be text, not the number 5 (a n"),
    ("pharos", "most: 5", "most: '5'", "E103 pharos:20:68 `most` should be a whole number, not the text '5' (take"),
    ("pharos", "rate: 10/s", "rate: 0/s", "E104 pharos:9:18 `rate` cannot be '0/s'"),
    ("pharos", "timeout: 5s", "timeout: 9999999999999s", "E104 pharos:9:33 `timeout` cannot be"),
    ("pharos", "https://pharos.example\n", "http://pharos.example\n", "E104 pharos:7:9 `base` cannot be"),
    ("pharos", "{X-Api-Key", "{X A: b, X-Api-Key", "E104 pharos:8:13 'X A' cannot be a key of `headers`"),
    ("pharos", "{X-Api-Key", '{X-A: "b\\r\\nc: d", X-Api-Key', "E104 pharos:8:18 the header 'X-A' holds a control"),
    ("pharos", "        query:\n", "        post: /x\n        query:\n", "E105 pharos:17:9 a step takes one of"),
    ("lights", "type: number", "type: float", "E104 lights:13:18 `type` cannot be 'float'"),
    ("lights", "title:", "titel:", "E101 lights:3:1 a capability has no key 'titel' (did you mean"),
    ("lights", "[pharos, lantern]", "[pharos, lantern, beacon]", "E124 lights:5:49 there is no provider 'beacon'"),
    ("lights", "[pharos, lantern]", "[pharos, pharos]", "E124 lights:5:40 'pharos' stands twice"),
    ("find_lights", "default: 5,", "default: 500,", "E104 find_lights:9:66 the default 500 is above the most, 50"),
    ("find_lights", "operation: lights}", "operation: lihgts}", "E110 find_lights:13:53 no capability is called"),
    # Names and expressions
    ("pharos", "clamp(", "clmap(", "E203 pharos:18:19 unknown function 'clmap' (did you mean"),
    ("pharos", "=args.region", "=args.regoin", "E202 pharos:19:25 unknown name 'regoin'"),
    ("pharos", "=config.PHAROS_KEY", "=config.PHARO_KEY", "E202 pharos:8:32 unknown name 'PHARO_KEY'"),
    ("pharos", "clamp(args.num_results,", "clamp(args.region,", "E204 pharos:18:25 clamp() takes nullable number"),
    ("pharos", "body.fault.code ==", "status ==", "E204 pharos:11:14 a number and text are never equal"),
    ("pharos", "== 'NOKEY'", '== "NOKEY"', "E202 pharos:11:33 unknown name 'NOKEY' (double quotes stand around"),
    ("pharos", "id: {at: id,", "id: {at: id, when: values.b,", "E202 pharos:24:39 unknown name 'b'"),
    ("pharos", "get: /lights", "get: /{config.PHAROS_KEY}", "E207 pharos:16:16 a secret may not stand in a path"),
    ("pharos", "get: /lights", "get: https://x.example/a", "E211 pharos:16:14 a path has no host"),
    ("pharos", "get: /lights", "get: /{args.region", "E211 pharos:16:14 a brace in a path"),
    ("pharos", "get: /lights", "get: /a/../lights", "E211 pharos:16:14 a path has no segment `.` or `..`"),
    ("pharos", "[number]", "[numbr]", "E209 pharos:26:41 no converter is called 'numbr'"),
    ("lantern", "//c:light\n", "//d:light\n", "E202 lantern:12:19 unknown namespace prefix 'd'"),
    # Examples
    ("pharos", "name: One", "name: Two", "E401 pharos:42:11 'pages are read until enough was found': row 1"),
    ("pharos", 'name: Three, height: null', "nam: Three", "E402 pharos:43:11 a row of 'lights' has no field 'nam'"),
    ("pharos", "    args: {num_results: 2}", "    args: {num: 2}", "E402 pharos:46:5 pharos.lights takes no argument"),
    ("pharos", "    operation: lights\n", "    operation: light\n", "E402 pharos:29:5 pharos has no operation 'light'"),
    ("pharos", "items: [{id: 1,", "lost: [{id: 1,", "E401 pharos:22:17 'pages are read until enough was found'"),
    ("find_lights", "      pharos.lights", "      faros.lights", "E402 find_lights:21:7 there is no operation 'faros"),
]  # fmt: skip


def lay(root: Path) -> Path:
    for path, text in FILES.values():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def said(verdict: SpecVerdict) -> list[str]:
    return [
        f"{one.code} {Path(one.place.file).stem}:{one.place.line}:{one.place.column} {one.message}"
        + (f" ({one.hint})" if one.hint else "")
        for one in verdict.diagnostics
    ]


def test_the_specs_without_a_slip_are_right(tmp_path: Path) -> None:
    assert said(judge([lay(tmp_path)])) == []


@pytest.mark.parametrize(("which", "old", "new", "told"), [(one[0], one[1], one[2], one[3:]) for one in SLIPS])
def test_a_slip_is_told_and_nothing_beside_it(
    which: str, old: str, new: str, told: tuple[str, ...], tmp_path: Path
) -> None:
    path = lay(tmp_path) / FILES[which][0]
    text = path.read_text(encoding="utf-8")
    assert old in text

    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    found = said(judge([tmp_path]))
    assert len(found) == len(told), found
    for one, wanted in zip(found, told, strict=True):
        assert one.startswith(wanted)


def test_slips_in_several_files_are_all_told_in_one_run(tmp_path: Path) -> None:
    lay(tmp_path)
    for which, old, new in (
        ("pharos", "clamp(", "clmap("),
        ("lantern", "required: true}", "required: true, then: [tirm]}"),
        ("find_lights", "height: height", "height: hight"),
    ):
        path = tmp_path / FILES[which][0]
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    codes = [one.code for one in judge([tmp_path]).diagnostics]

    assert codes == ["E209", "E203", "E202"]


def test_an_example_that_names_a_provider_with_errors_waits_for_it(tmp_path: Path) -> None:
    lay(tmp_path)
    for which, old, new in (
        ("lights", "[pharos, lantern]", "[lantern]"),
        ("pharos", "clamp(", "clmap("),
    ):
        path = tmp_path / FILES[which][0]
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    assert [one.code for one in judge([tmp_path]).diagnostics] == ["E203"]


def test_a_value_that_is_called_like_what_it_lacks_is_told_what_it_lacks(tmp_path: Path) -> None:
    path = lay(tmp_path) / FILES["lantern"][0]
    text = path.read_text(encoding="utf-8").replace("    steps:\n", "    values: {region: args.region}\n    steps:\n")

    path.write_text(text, encoding="utf-8")

    assert said(judge([tmp_path])) == ["E202 lantern:8:27 unknown name 'region' (known: query)"]


def test_a_secret_that_is_written_out_is_warned_of_in_a_request_and_in_an_example(tmp_path: Path) -> None:
    path = lay(tmp_path) / FILES["pharos"][0]
    key = "sk-" + "0123456789abcdef"
    sent = f"{{X-Api-Key: {key}, X-V: {key}}}"
    text = path.read_text(encoding="utf-8").replace("{X-Api-Key: =config.PHAROS_KEY}", sent)

    path.write_text(text.replace("config: {PHAROS_KEY: k}", f"config: {{PHAROS_KEY: {key}}}"), encoding="utf-8")

    warned = [one for one in said(judge([tmp_path])) if one.startswith("W202")]
    assert [one.partition(" (")[0] for one in warned] == [
        "W202 pharos:8:24 what is sent as 'X-Api-Key' looks like a secret",
        "W202 pharos:8:50 what is sent as 'X-V' looks like a secret",
        "W202 pharos:31:5 the value of PHAROS_KEY looks like a real secret",
        "W202 pharos:47:5 the value of PHAROS_KEY looks like a real secret",
    ]


def test_words_and_versions_are_no_secrets(tmp_path: Path) -> None:
    path = lay(tmp_path) / FILES["lantern"][0]
    text = path.read_text(encoding="utf-8")
    more = "{q: =args.query, sort: key, key: relevance, token: none, v: 2024-01-01T00:00:00.000Z"

    path.write_text(text.replace("{q: =args.query", more), encoding="utf-8")

    assert [one for one in said(judge([tmp_path])) if one.startswith("W202")] == []


def test_what_looks_like_a_spec_and_is_not_read_is_told(tmp_path: Path) -> None:
    base, own = lay(tmp_path / "base"), tmp_path / "own"
    for name in ("providers.d/extra.yml", "tools.d/coast/more.YAML", "provider.d/extra.yaml", "notes/a.yaml"):
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text("spec: provider/1\n", encoding="utf-8")
    (own / "providers.d" / "gone.yaml").symlink_to(own / "nowhere")

    found = [(one.code, Path(one.place.file).name, one.hint) for one in judge([base, own]).diagnostics]

    assert found == [
        ("W001", "provider.d", "call it providers.d"),
        ("W001", "extra.yml", "call it extra.yaml"),
        ("W001", "gone.yaml", "mend or remove it"),
        ("W001", "more.YAML", "call it more.yaml"),
    ]


CALM = """\
spec: tool/1
name: find_lights
title: Lights
description: Lights by name.
annotations: {read_only: true, destructive: false, idempotent: true, open_world: true}
input:
  query: {type: string, required: true, max_length: 20, description: The name.}
  provider: {type: string, enum: providers.sightings, open: true, description: Whom to ask.}
plan:
  - name: the one that was asked for
    when: args.provider
    call: {provider: =args.provider, operation: sightings}
  - name: all of them
    first_of: {providers: =route.sightings, operation: sightings}
answer:
  names: =rows[].name
examples:
  - name: who offers nothing of the kind is told with those who do
    args: {query: x, provider: nobody}
    providers: {}
    expect: {error: config, message: "there is no provider 'nobody'; those that do: alpha"}
  - name: a query that is as long as it may be
    args: {query: x}
    accept: [{query: {characters: 20}}]
"""
SIGHTINGS = """\
spec: capability/1
name: sightings
title: Sightings
description: Sightings.
routing: {key: sightings, order: [alpha]}
arguments: {query: {type: text, description: What.}}
row: {name: {type: text, required: true, description: The name.}}
"""
WATCHER = """\
spec: provider/1
name: NAME
title: A watcher
service: {base: "https://watch.example"}
operations:
  sightings:
    input: [query]
    steps: [{get: /a, query: {q: =args.query}, json: {each: items, map: {name: {at: name, required: true}}}}]
examples:
  - name: one
    operation: sightings
    args: {query: x}
    replies: {main: {json: {items: [{name: Otter}, {}]}}}
    expect:
      sent: {main: {get: "https://watch.example/a", query: {q: x}}}
      rows: [{name: Otter}]
"""


def lay_lights(base: Path, own: Path) -> None:
    """A first layer whose tool names its providers, and a further one with one provider more."""
    for path, text in {
        base / "providers.d/capabilities/sightings.yaml": SIGHTINGS,
        base / "providers.d/alpha.yaml": WATCHER.replace("NAME", "alpha"),
        base / "tools.d/birds/find_lights.yaml": CALM,
        own / "providers.d/beta.yaml": WATCHER.replace("NAME", "beta"),
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("incremental", [False, True])
def test_a_provider_of_ones_own_breaks_no_example_of_the_first_layer(tmp_path: Path, *, incremental: bool) -> None:
    base, own = tmp_path / "base", tmp_path / "own"
    lay_lights(base, own)
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    verdict = find_verdict([base, own], environ) if incremental else judge([base, own])

    assert [one for one in said(verdict) if one.startswith("E")] == []


@pytest.mark.parametrize("remember", [False, True])
def test_a_file_is_judged_by_itself_whatever_is_wrong_in_others(tmp_path: Path, *, remember: bool) -> None:
    base, own = tmp_path / "base", tmp_path / "own"
    lay_lights(base, own)
    beta, gamma = own / "providers.d/beta.yaml", own / "providers.d/gamma.yaml"
    gamma.write_text(WATCHER.replace("NAME", "gamma").replace("A watcher", "G  # decide: its title"), encoding="utf-8")
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    verdict, other = (
        find_verdict([base, own], environ, remember=remember, paths=[path]) for path in (beta, own / "providers.d")
    )

    assert [one for one in said(verdict) if one.startswith("E")] == []
    assert verdict.elsewhere[0] == 1
    assert verdict.summary().endswith("1 error in other files; `specloom check` tells them")
    assert [one.code for one in other.diagnostics if one.is_error] == ["E405"]
    assert other.elsewhere == (0, 0)


def test_a_file_is_judged_with_what_depends_on_it(tmp_path: Path) -> None:
    base, own = tmp_path / "base", tmp_path / "own"
    lay_lights(base, own)
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    find_verdict([base, own], environ)
    alpha = base / "providers.d/alpha.yaml"
    alpha.write_text(alpha.read_text(encoding="utf-8").replace("name: alpha", "name: omega"), encoding="utf-8")
    renamed = alpha.rename(alpha.with_name("omega.yaml"))

    verdict = find_verdict([base, own], environ, paths=[renamed])

    # The order of the capability names who is gone, and so does an example of the tool.
    wrong = {Path(one.place.file).name for one in verdict.diagnostics if one.is_error}
    assert wrong == {"find_lights.yaml", "sightings.yaml"}


def test_a_file_of_a_layer_is_judged_with_what_depends_on_it_after_a_check_of_other_layers(tmp_path: Path) -> None:
    base, own, empty = tmp_path / "base", tmp_path / "own", tmp_path / "empty"
    lay_lights(base, own)
    capability = (base / "providers.d/capabilities/sightings.yaml").rename(own / "providers.d/sightings.yaml")
    broken = capability.read_text(encoding="utf-8").replace("row: {name", "row: {title")
    capability.write_text(broken, encoding="utf-8")
    empty.mkdir()
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    first = find_verdict([base, own], environ, paths=[capability])
    find_verdict([base, empty], environ)
    again = find_verdict([base, own], environ, paths=[capability])

    assert first.errors
    assert again.diagnostics == first.diagnostics
    assert again.elsewhere == first.elsewhere


def test_an_example_of_the_first_layer_is_still_held_to_what_it_says_of_its_own_providers(tmp_path: Path) -> None:
    base, own = tmp_path / "base", tmp_path / "own"
    lay_lights(base, own)
    path = base / "tools.d/birds/find_lights.yaml"
    path.write_text(CALM.replace("do: alpha", "do: omega"), encoding="utf-8")

    (found,) = [one for one in said(judge([base, own])) if one.startswith("E")]

    assert "those that do: alpha" in found


def test_a_layer_that_is_a_folder_too_deep_is_told(tmp_path: Path) -> None:
    base = lay(tmp_path / "base")

    (found,) = judge([base, lay(tmp_path / "own") / "tools.d"]).diagnostics

    assert (found.code, found.hint) == ("W001", "name the folder above it")


def test_a_remembered_verdict_forgets_when_an_overlooked_file_appears(tmp_path: Path) -> None:
    root, environ = lay(tmp_path / "own"), {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    first, second = (find_verdict([root], environ) for _ in range(2))

    (root / "providers.d" / "extra.yml").write_text("", encoding="utf-8")

    third = find_verdict([root], environ)
    assert (first.remembered, second.remembered, third.remembered) == (False, True, False)
    assert [one.code for one in third.diagnostics] == ["W001"]


def test_a_terminal_is_not_spoken_to_by_a_file(tmp_path: Path) -> None:
    path = lay(tmp_path) / FILES["pharos"][0]
    path.write_bytes(PHAROS.encode("utf-16"))
    report = Report()
    library = load_library([tmp_path], report)
    weave(library, report)

    shown = "\n".join(render(one, library.sources) for one in report)

    assert "E006" in shown
    assert all(one.isprintable() or one == "\n" for one in shown)


def test_an_example_in_whose_route_nobody_is_says_where_the_order_is_written(tmp_path: Path) -> None:
    path = lay(tmp_path) / FILES["lights"][0]
    path.write_text(path.read_text(encoding="utf-8").replace("[pharos, lantern]", "[]"), encoding="utf-8")

    hints = {one.hint for one in judge([tmp_path]).diagnostics if one.code == "E401"}

    order = f"`routing: {{order: [lantern, pharos]}}` of 'lights' ({FILES['lights'][0]})"
    assert hints == {f"nobody is in the order of that capability: write {order}, or say `routes` in the example"}
