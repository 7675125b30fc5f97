"""A small house of specs for tests: a capability, a provider that asks the address in `DEMO_URL`, a tool, a lens.

The texts are meant to be edited: `write_demo(root, {PROVIDER: [("old", "new")]})` plants a break, and the old text must
be there exactly once.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import specloom
from specloom.authoring.examples.run import check_examples
from specloom.compiler.build import weave_from
from specloom.core.diagnostics import Report
from specloom.model.model import Model
from specloom.net.transport import Transport
from specloom.runtime.circuit_breaker import Breakers
from specloom.runtime.executor import Executor
from specloom.specs.library import Library

PACKAGE = Path(specloom.__file__).parent
CAPABILITY, PROVIDER, TOOL = (
    "providers.d/capabilities/demo_pages.yaml",
    "providers.d/demo.yaml",
    "tools.d/research/demo_find.yaml",
)
LENS = "lenses/demo_field.yaml"

TEXTS = {
    CAPABILITY: """\
spec: capability/1
name: demo_pages
title: Demo pages
description: Pages for tests.
routing: {key: demo_pages, order: [demo]}
arguments:
  query: {type: text, description: What is asked.}
  num_results: {type: integer, description: How many.}
  time_range: {type: text, enum: [day, week], description: Not older.}
row:
  title: {type: text, description: The title.}
  url: {type: url, required: true, description: The address.}
  rank: {type: integer, description: The place.}
""",
    PROVIDER: """\
spec: provider/1
name: demo
title: Demo
homepage: https://example.org/
notes: For tests.
config:
  DEMO_URL: {type: url, required: true, description: Where it listens.}
  DEMO_KEY: {secret: true, required: true, description: The key.}
tables:
  since: {day: d, week: w}
service:
  base: =config.DEMO_URL
  private: true
  headers: {X-Key: =config.DEMO_KEY, Accept: application/json}
  errors:
    - {when: status == `401`, kind: auth_required, message: "'Demo refused the key'"}
    - {when: "status == `429` && body.error == 'quota'", kind: quota_exhausted, message: "'the plan is used up'"}
    - {when: status == `429`, kind: rate_limited, message: "'Demo asks to slow down'"}
operations:
  demo_pages:
    input: [query, num_results, time_range]
    steps:
      - get: /search
        query:
          q: =args.query
          count: =args.num_results
          since: =lookup('since', args.time_range)
        json:
          each: results
          empty_is_ok_when: type(results) == 'array'
          map:
            title: title
            url: {at: link, required: true, then: [absolute_http]}
            rank: rank
examples:
  - name: a page of two, of which one lacks its address
    operation: demo_pages
    args: {query: otters, num_results: 3, time_range: week}
    config: {DEMO_URL: "https://demo.example.org", DEMO_KEY: k}
    replies:
      main: {json: {results: [{title: A, link: "https://example.org/a", rank: 1}, {title: B}]}}
    expect:
      sent:
        main:
          get: https://demo.example.org/search
          query: {q: otters, count: "3", since: w}
          headers: {X-Key: k, Accept: application/json}
      rows: [{title: A, url: "https://example.org/a", rank: 1}]
  - name: a refused key is told apart
    operation: demo_pages
    args: {query: otters, time_range: day}
    config: {DEMO_URL: "https://demo.example.org", DEMO_KEY: k}
    replies: {main: {status: 401, json: {}}}
    expect: {error: auth_required, message: Demo refused the key}
  - name: a used-up plan is told apart from throttling
    operation: demo_pages
    args: {query: otters}
    config: {DEMO_URL: "https://demo.example.org", DEMO_KEY: k}
    replies: {main: {status: 429, json: {error: quota}}}
    expect: {error: quota_exhausted}
  - name: throttling is told apart
    operation: demo_pages
    args: {query: otters}
    config: {DEMO_URL: "https://demo.example.org", DEMO_KEY: k}
    replies: {main: {status: 429, json: {}}}
    expect: {error: rate_limited}
  - name: a page without the list is a changed layout
    operation: demo_pages
    args: {query: otters}
    config: {DEMO_URL: "https://demo.example.org", DEMO_KEY: k}
    replies: {main: {json: {items: []}}}
    expect: {error: layout_changed}
""",
    TOOL: """\
spec: tool/1
name: demo_find
title: Find demo pages
description: Find pages for tests.
toolsets: [core]
annotations: {read_only: true, destructive: false, idempotent: true, open_world: true}
input:
  query: {type: string, required: true, min_length: 1, max_length: 100, description: What to look for.}
  num_results: {type: integer, minimum: 1, maximum: 10, default: 5, clamp: true, description: How many.}
  time_range: {type: string, enum: [day, week], description: No older than this.}
  lens: {type: string, enum: lenses, description: A field.}
  session: {type: string, max_length: 20, description: Session that the pages belong to.}
cache: {ttl: 30m, shape: 1, ignore: [session]}
values:
  chosen: lookup('lenses', args.lens)
plan:
  - name: the route
    first_of: {providers: =route.demo_pages, operation: demo_pages}
    on: {error: next, empty: next}
after:
  - dedupe: {by: [url]}
  - take: args.num_results
answer:
  count: =length(rows)
  field: "=not_null(values.chosen.name, '')"
  pages: {each: rows, map: {title: {at: title, else: ""}, url: url, rank: rank}}
record: {session: session, as: web}
examples:
  - name: the first in the route answers
    args: {query: otters, lens: demo_field}
    providers: {demo.demo_pages: {rows: [{title: A, url: "https://example.org/a", rank: 1}]}}
    expect:
      served_by: demo
      answer: {count: 1, field: demo_field, pages: [{title: A, url: "https://example.org/a", rank: 1}]}
  - name: arguments have bounds
    args: {query: otters}
    refuse:
      - {query: qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq}
      - {session: a-session-too-long-20}
    accept:
      - {num_results: 10, session: a-session-of-20-long}
""",
    LENS: """\
spec: lens/1
name: demo_field
title: Demo field
description: Sites for tests.
domains: [example.org]
example: {query: otters, makes: ["otters site:example.org"]}
""",
}
"""Every file by its path under the root of a layer."""

Edits = Mapping[str, Iterable[tuple[str, str]]]


def edit(text: str, old: str, new: str) -> str:
    """The text with its only `old` replaced."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the demo spec"
    return text.replace(old, new)


def write_demo(root: Path, edits: Edits | None = None) -> Path:
    """The demo specs under `root`, edited; the root."""
    for path, text in TEXTS.items():
        changed = text
        for old, new in (edits or {}).get(path, ()):
            changed = edit(changed, old, new)
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(changed, encoding="utf-8")
    return root


def weave_demo(root: Path) -> tuple[Model, Library, Report]:
    """The specs under `root`, compiled, with their examples run."""
    model, library, report = weave_from([root])
    check_examples(library, model, report)
    return model, library, report


def codes(report: Report) -> list[str]:
    """The codes of the errors, in order."""
    return [one.code for one in report.errors]


def demo_executor(root: Path, url: str = "https://demo.example.org", **options: Any) -> Executor:
    """An executor over the specs under `root`, whose provider is at `url`; with the guarded transport by default."""
    model, _, report = weave_from([root])
    assert not report.errors, report.errors
    environ = {"DEMO_URL": url, "DEMO_KEY": "s3cr3t-demo-key", **options.pop("environ", {})}
    options.setdefault("sender", Transport())
    options.setdefault("breakers", Breakers(threshold=1000, reset=1.0))
    return Executor(model, environ=environ, **options)


def copy_package(to: Path, specs: Path) -> Path:
    """The package as if it were installed with `specs` inside; what `PYTHONPATH` must name."""
    shutil.copytree(PACKAGE, to / "specloom", ignore=shutil.ignore_patterns("*.pyc.*", "shipped"))
    shutil.copytree(specs, to / "specloom" / "shipped")
    return to


def child_environment(package: Path, cache: Path, **more: str) -> dict[str, str]:
    """The environment of a server that runs `copy_package`, with nobody's settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT", "TMPDIR", "TEMP") if name in os.environ}
    own = {"PYTHONPATH": str(package), "SPECLOOM_CACHE_DIR": str(cache), "SPECLOOM_PATH": "", "PYTHONWARNINGS": "error"}
    return {**kept, **own, **more}


SERVE = [sys.executable, "-m", "specloom", "serve"]
