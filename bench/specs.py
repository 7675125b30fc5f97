"""Specs made for the benchmark of growth: as many providers and tools as it needs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from specloom.core.paths import shipped_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROVIDER = """\
spec: provider/1
name: {name}
title: Loopback {name}
homepage: https://example.org/
notes: Made for a benchmark.
tables:
  since: {{day: d, week: w, month: m, year: y}}
service:
{service}
  errors:
    - {{when: status == `429`, kind: rate_limited, message: "'slow down'"}}
    - {{when: status == `401`, kind: auth_required, message: "'the key was refused'"}}
operations:
  {capability}:
    input: [query, num_results, time_range]
    steps:
      - get: /search
        query: {{q: =args.query, count: =args.num_results, since: "=lookup('since', args.time_range)"}}
        json:
          each: web.results
          map:
            title: {{at: title, then: [strip_tags]}}
            url: {{at: url, required: true, then: [absolute_http]}}
            snippet: {{at: description, then: [strip_tags]}}
            display_link: meta_url.hostname
            extra_snippets: extra_snippets
            published_at: {{at: page_age, then: [timestamp]}}
"""
_EXAMPLES = """\
examples:
  - name: a page is mapped
    operation: {capability}
    args: {{query: otters, num_results: 3, time_range: week}}
    replies:
      main:
        json: {{web: {{results: [{{title: "<b>A</b>", url: "https://example.org/a", description: About}}]}}}}
    expect:
      sent: {{main: {{get: "https://{name}.example.org/search", query: {{q: otters, count: "3", since: w}}}}}}
      rows: [{{title: A, url: "https://example.org/a", snippet: About}}]
  - name: a refusal is told apart
    operation: {capability}
    args: {{query: otters}}
    replies: {{main: {{status: 429, text: ""}}}}
    expect: {{error: rate_limited}}
"""
_CAPABILITY = """\
spec: capability/1
name: grown
title: Grown search
description: Made for a benchmark.
routing: {{key: grown, order: [{order}]}}
arguments:
  query: {{type: text, description: What is asked.}}
  num_results: {{type: integer, description: How many.}}
  time_range: {{type: text, description: Not older.}}
row:
  title: {{type: text, description: Title.}}
  url: {{type: url, required: true, description: Address.}}
  snippet: {{type: text, description: Quote.}}
  display_link: {{type: text, description: Host.}}
  extra_snippets: {{type: list, description: More.}}
  published_at: {{type: timestamp, description: When.}}
"""
_TOOL = """\
spec: tool/1
name: {name}
title: Grown {name}
description: Find pages made for a benchmark; titles, addresses and short excerpts to choose what to read.
annotations: {{read_only: true, destructive: false, idempotent: true, open_world: true}}
input:
  query: {{type: string, required: true, min_length: 1, max_length: 500, description: What to look for.}}
  num_results: {{type: integer, minimum: 1, maximum: 10, default: 5, clamp: true, description: How many results.}}
  time_range: {{type: string, enum: [day, week, month, year], description: No older than this.}}
  provider: {{type: string, enum: providers.grown, open: true, description: Ask only this provider.}}
cache: {{ttl: 30m, shape: 1}}
plan:
  - name: the provider that was asked for
    when: args.provider
    call: {{provider: =args.provider, operation: grown}}
    on: {{error: stop}}
  - name: the route
    when: "!(args.provider)"
    first_of: {{providers: =route.grown, operation: grown}}
    on: {{error: next, empty: next}}
answer:
  resultCount: =length(rows)
  results: {{each: rows, map: {{title: title, url: url, snippet: snippet}}}}
examples:
  - name: the first in the route answers
    args: {{query: otters}}
    providers: {{grown_0000.grown: {{rows: [{{title: A, url: "https://example.org/a"}}]}}}}
    expect: {{served_by: grown_0000, rows: [{{url: "https://example.org/a"}}]}}
"""


def write_grown(root: Path, providers: int, tools: int) -> None:
    """A folder with so many providers of one capability, each with two examples, and so many tools over it."""
    order = ", ".join(f"grown_{number:04}" for number in range(providers))
    _write(root / "providers.d/capabilities/grown.yaml", _CAPABILITY.format(order=order))
    for number in range(providers):
        name = f"grown_{number:04}"
        service = f"  base: https://{name.replace('_', '-')}.example.org"
        text = _PROVIDER.format(name=name, service=service, capability="grown")
        examples = _EXAMPLES.format(name=name.replace("_", "-"), capability="grown")
        _write(root / f"providers.d/{name}.yaml", text + examples)
    for number in range(tools):
        name = f"grown_search_{number:03}"
        _write(root / f"tools.d/grown/{name}.yaml", _TOOL.format(name=name))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def environment(cache: Path, *layers: Path, **more: str) -> dict[str, str]:
    """An environment without anybody's settings; layers that `SPECLOOM_PATH` names stay below those given."""
    kept = ("PATH", "HOME", "PYTHONPATH", "SYSTEMROOT", "TEMP", "TMPDIR", "LANG")
    environ = {name: os.environ[name] for name in kept if name in os.environ}
    named = [part for part in os.environ.get("SPECLOOM_PATH", "").split(os.pathsep) if part]
    path = os.pathsep.join([*named, *map(str, layers)])
    return {**environ, "SPECLOOM_PATH": path, "SPECLOOM_CACHE_DIR": str(cache), **more}


def roots(environ: Mapping[str, str]) -> list[Path]:
    """The folders of specs that a server in this environment has."""
    listed = [Path(part) for part in environ["SPECLOOM_PATH"].split(os.pathsep) if part]
    return [Path(shipped_folder()), *listed]
