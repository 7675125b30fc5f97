"""The start of a lens: its sites, and the query that they make."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .capability import site_queries
from .model import Model
from .record import to_yaml
from .scaffold import ScaffoldError, check_name
from .scaffold_fields import indented

_SITE = re.compile(r"[a-z0-9.-]+\.[a-z]{2,}(?:/[A-Za-z0-9._~/-]*)?")


def draft_lens(model: Model, name: str, domains: Sequence[str]) -> str:
    """The text of a lens over these sites, which may be given as addresses; the first is the most important."""
    check_name("lens", name, model.lenses)
    if not domains:
        raise ScaffoldError("say which sites: --domain HOST or HOST/PATH, once for each, the most important first")
    sites = tuple(dict.fromkeys(_site(one) for one in domains))
    title = name.replace("-", " ").replace("_", " ").capitalize()
    query = "sea otters"
    lines = [
        "# yaml-language-server: $schema=../schema/lens.json",
        "spec: lens/1",
        f"name: {name}",
        f"title: {title}  # decide: what people call it",
        f"description: Pages about {title.lower()}.  # decide: what is on these sites, and what is not, in one line",
        *to_yaml({"domains": list(sites)}).splitlines(),
        "example:",
        *indented(to_yaml({"query": query, "makes": site_queries(query, sites)}).splitlines(), 2),
    ]
    return "\n".join(lines) + "\n"


def _site(said: str) -> str:
    """A site as a lens names it, from a host, a host with a path, or an address."""
    host, slash, path = re.sub(r"^https?://", "", said.strip()).partition("/")
    site = f"{host.lower()}{slash}{path}".rstrip("/")
    if not _SITE.fullmatch(site):
        raise ScaffoldError(f"{said!r} is not a site; write a host, such as otters.example, or a host with a path")
    return site
