"""A spec is broken in one place at a time; what its checks and examples do not notice is told."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from specloom.authoring.mutation.operators import break_expression, break_selector, mutations, unseen_reason
from specloom.authoring.mutation.run import SpecResult, chosen_specs, mutate, render_report, run
from tests.support.spec_library import a_tool, weave_texts

SPEC = """\
spec: provider/1
name: sample
title: Sample
notes: Nothing odd.
config:
  SAMPLE_KEY: {description: The key., secret: true}
tables:
  small: {high: "1", "off": "0"}
service:
  base: https://sample.example
  headers: {X-Key: =config.SAMPLE_KEY}
  limits: {rate: 1/s, timeout: 5s}
  retry: {on: [network], times: 1, wait: 2s}
  errors:
    - {when: status == `402`, kind: quota_exhausted}
    - {when: status > `400`, kind: blocked}
operations:
  find:
    input: [query, safe]
    steps:
      - get: /search
        keep_for: 1h
        query: {q: =args.query, s: "=lookup('small', args.safe)"}
        json: {each: items, map: {title: title, url: {at: url, required: true}}}
examples:
  - name: an item is a row
    operation: find
    args: {query: otters, safe: high}
    config: {SAMPLE_KEY: k}
    replies: {main: {json: {items: [{title: T, url: "https://u/"}, {title: U}]}}}
    expect:
      sent: {main: {get: "https://sample.example/search", query: {q: otters, s: "1"}, headers: {X-Key: k}}}
      rows: [{title: T, url: "https://u/"}]
  - {name: used up, operation: find, args: {query: x}, replies: {main: {status: 402}}, expect: {error: quota_exhausted}}
"""


def result(text: str = SPEC) -> SpecResult:
    woven = weave_texts(text)
    return mutate(woven.model, woven.library, ["sample"]).specs[0]


def survivors(text: str = SPEC) -> set[str]:
    return {one.change for one in result(text).survivors}


def test_what_no_example_pins_down_survives() -> None:
    assert survivors() == {
        # Nothing fails and is tried again.
        "`retry` left out", "network → upstream_unavailable", "1 → 2",
        # Nothing switches the filter off.
        "0 → 0x",
        # The second rule decides nothing, and without any the status means the same.
        "`400` → `401`", "blocked → network", "item 2 of `errors` left out", "`errors` left out",
        # The capability wants the field as well.
        "true → false",
    }  # fmt: skip


def test_an_example_for_a_rule_makes_its_breaks_noticed() -> None:
    more = (
        "  - {name: forbidden, operation: find, args: {query: x}, replies: {main: "
        "{status: 401}}, expect: {error: blocked}}\n"
    )

    assert {"`400` → `401`", "item 2 of `errors` left out"} & survivors(SPEC + more) == set()
    assert result(SPEC + more).score > result().score


def test_what_cannot_be_seen_offline_is_listed_but_does_not_count() -> None:
    found = result()

    unseen = {one.change for one in found.unseen}
    assert {
        "`limits` left out",
        "1/s → 11/s",
        "5s → 15s",
        "2s → 12s",
        "1h → 11h",
        "`keep_for` left out",
        "true → false",
    } <= unseen
    assert all(one.reason for one in found.unseen)
    assert found.mutants == found.noticed + len(found.survivors)


def test_prose_and_examples_are_left_alone() -> None:
    woven = weave_texts(SPEC)

    roots = {mutation.path[0] for mutation in mutations(woven.library.specs["provider", "sample"])}
    assert roots == {"config", "tables", "service", "operations"}


def test_every_break_says_where_it_is() -> None:
    woven = weave_texts(SPEC)
    lines = SPEC.splitlines()

    for mutation in mutations(woven.library.specs["provider", "sample"]):
        old = mutation.change.partition(" → ")[0]
        if "`" not in old and " " not in old and " → " in mutation.change:
            assert lines[mutation.place.line - 1][mutation.place.column - 1 :].lstrip('"').startswith(old), (
                mutation.change
            )


def test_a_spec_that_fails_already_is_not_praised_for_it() -> None:
    text = SPEC.replace("rows: [{title: T, url: u}]", "rows: [{title: wrong, url: u}]")

    found = result(text)
    assert found.survivors
    assert found.score < 1


TOOL = (
    a_tool(
        inputs=(
            "num_results: {type: integer, default: 5, description: How many.}\n"
            "session: {type: string, description: Where.}\n"
        ),
        more="cache: {ttl: 1m, shape: 1, ignore: [session]}\nafter:\n  - take: args.num_results\n",
    )
    + """\
record: {session: session, as: web}
examples:
  - name: as many as asked for
    args: {query: x, num_results: 1}
    providers: {alpha.find: {rows: [{url: a}, {url: b}]}}
    expect: {answer: {urls: [a]}}
"""
)


def test_a_cache_that_ignores_one_more_input_is_refused_by_the_proof() -> None:
    woven = weave_texts(TOOL)
    changes = [mutation.change for mutation in mutations(woven.library.specs["tool", "sample"])]

    assert {"the cache ignores 'query' too", "the cache ignores 'num_results' too"} <= set(changes)
    assert {"5 → 6", "`default` left out"} <= survivors(TOOL)
    assert not any("ignores" in change for change in survivors(TOOL))


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("args.query", {"args.queryx"}),
        ("a == 'b'", {"ax == 'b'", "a != 'b'", "a == 'bx'"}),
        ("!(a) && `5`", {"(a) && `5`", "!(ax) && `5`", "!(a) || `5`", "!(a) && `6`"}),
        ("f(a, 'b')", {"f(a)", "a", "f(ax, 'b')", "f(a, 'bx')"}),
        (
            "f(g(a, b), c)",
            {"f(g(a, b))", "g(a, b)", "f(g(a), c)", "f(a, c)", "f(g(ax, b), c)", "f(g(a, bx), c)", "f(g(a, b), cx)"},
        ),
        ("rows[0].url", {"rowsx[0].url", "rows[1].url", "rows[0].urlx"}),
        ("'it\\'s, (' ", {"'it\\'s, (x' "}),
        ("`true`", {"`false`"}),
        ("`null`", {"`0`"}),
        ("map(&a, b)", {"map(&a)", "map(&ax, b)", "map(&a, bx)"}),
    ],
)
def test_an_expression_is_broken_in_one_place_at_a_time(text: str, broken: set[str]) -> None:
    found = list(break_expression(text))

    assert {new for new, _, _ in found} == broken
    assert all(0 <= offset < len(text) for _, _, offset in found)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("title", {"titlex"}),
        ("meta.title", {"meta.titlex"}),
        ('items[0]."a b"', {'itemsx[0]."a b"', 'items[1]."a b"', 'items[0]."a bx"'}),
        (".//a[has-class('r')]/@href", {".//a[has-class('rx')]/@href", ".//a[has-class('r')]/@hrefx"}),
        ("//div/@data-url", {"//div/@data-urlx"}),
        ("following-sibling::p/text()", {"following-sibling::px/text()"}),
    ],
)
def test_a_selector_of_either_language_is_broken(text: str, broken: set[str]) -> None:
    assert {new for new, _, _ in break_selector(text)} == broken


def test_names_that_an_author_chose_hide_nothing() -> None:
    assert unseen_reason(("service", "limits", "rate"))
    assert unseen_reason(("cache", "ttl"))
    assert not unseen_reason(("operations", "find", "steps", "query", "limits"))
    assert not unseen_reason(("operations", "find", "steps", "json", "map", "record"))
    assert not unseen_reason(("input", "cache", "maximum"))


def test_an_unknown_name_is_refused() -> None:
    woven = weave_texts(SPEC)

    with pytest.raises(ValueError, match="no provider or tool that compiles is called 'smaple'"):
        chosen_specs(woven.model, woven.library, ["smaple"])


def test_workers_find_the_same() -> None:
    woven = weave_texts(SPEC)

    assert mutate(woven.model, woven.library, workers=2) == mutate(woven.model, woven.library)


def test_the_report_has_a_table_and_a_form_for_builds() -> None:
    woven = weave_texts(SPEC)
    report = mutate(woven.model, woven.library)

    text = render_report(report)
    assert text.splitlines()[0].split() == ["spec", "breaks", "noticed", "score"]
    assert "sample: not noticed\n  memory/sample.yaml:" in text
    said = json.loads(json.dumps(report.to_json()))
    assert {one["name"] for one in said["specs"]} == {"alpha", "ask", "sample"}
    assert 0 < said["score"] < 1


@pytest.mark.usefixtures("small_catalogue")
def test_the_command_fails_below_its_floor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "providers.d").mkdir()
    (tmp_path / "providers.d" / "sample.yaml").write_text(
        SPEC.replace("  find:", "  look:\n    capability: find").replace("operation: find", "operation: look"),
        encoding="utf-8",
    )
    monkeypatch.setenv("SPECLOOM_PATH", str(tmp_path))

    assert run(["sample"]) == 0
    assert "sample" in capsys.readouterr().out
    assert run(["sample"], json=True, floor=0.999) == 1
    assert json.loads(capsys.readouterr().out)["specs"][0]["survivors"]
    assert run(["nobody"]) == 2
    assert "nobody" in capsys.readouterr().err


INTERRUPTED = """\
import multiprocessing, os, signal, sys, threading
from pathlib import Path
from specloom.authoring.mutation.run import mutate
from specloom.specs.library import shipped_root
from specloom.compiler.build import weave_from

FOLDER = Path(sys.argv[1])


def arrive(text):
    # A name is only there once the file is whole.
    state = "left alone" if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []) else "open to it"
    (FOLDER / f".{os.getpid()}").write_text(state)
    (FOLDER / f".{os.getpid()}").rename(FOLDER / str(os.getpid()))
    return text


class Told(str):
    def __reduce__(self):
        return arrive, (str(self),)


if __name__ == "__main__":
    model, library, _ = weave_from([shipped_root()])
    library.sources["told"] = Told("where a worker takes the library over")
    children = []
    # A background job of a shell is started with the interrupt ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt():
        while len(list(FOLDER.glob("[0-9]*"))) < 2:
            threading.Event().wait(0.001)
        children[:] = multiprocessing.active_children()
        os.killpg(0, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        mutate(model, library, ["edgar", "openalex"], workers=2)
    except KeyboardInterrupt:
        # Where another thread of the pool has waited for the child, its exit code is known a moment later.
        for child in children:
            while child.exitcode is None:
                child.join(1)
        print([(FOLDER / str(child.pid)).read_text() for child in children], [child.exitcode for child in children])
"""


@pytest.mark.process
def test_an_interrupt_of_the_whole_group_ends_it_and_its_workers_without_a_word(tmp_path: Path) -> None:
    script, arrived = tmp_path / "interrupted.py", tmp_path / "arrived"
    script.write_text(INTERRUPTED, encoding="utf-8")
    arrived.mkdir()

    done = subprocess.run(
        [sys.executable, script, arrived],
        capture_output=True,
        text=True,
        timeout=300,
        start_new_session=True,
        check=False,
    )

    told = f"{['left alone'] * 2} {[-int(signal.SIGTERM)] * 2}\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, told, "")
