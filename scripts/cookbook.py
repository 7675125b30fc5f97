"""Writes the cookbook: tasks of research with the calls that do them, and answers that the engine really gives.

A recipe is a file of `scripts/cookbook`: prose, calls, and what each upstream replies, cut down by hand to the shape
that it really has. Nothing is sent. `python scripts/cookbook.py` writes `docs/cookbook`; `--check` only says whether it
is as it would be written.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import jmespath
import yaml

from specloom.core import Fault, Request, Response
from specloom.runtime import Executor, Presenter
from specloom.server import load_served
from specloom.storage import Artifacts, open_memory
from specloom.storage.consent import grant_locally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specloom.model import Model

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ROOT / "scripts" / "cookbook"
PAGES = ROOT / "docs" / "cookbook"
HEAD = "<!-- Made by scripts/cookbook.py of {path}; edit that and run `make docs`. -->"
NOW = 1_780_300_800.0
"""2026-06-01, when the recipes are cooked."""


OWNER = "ann"
"""Who asks; what tools remember is kept for her."""
WIDTH = 110
"""Signs of a line of JSON at most, where it can be cut."""


class CookbookError(Exception):
    """Why a recipe cannot be written, in a sentence."""


class RecipeUpstreams:
    """Answers with the replies of a recipe, each named by a part of an address, the longest first."""

    def __init__(self, replies: Mapping[str, Any], strange: list[str]) -> None:
        """What no reply is for is added to `strange`."""
        self._replies = dict(replies)
        self.unused = set(replies)
        self.strange = strange

    def learn(self, replies: Mapping[str, Any]) -> None:
        """Take further replies, or others for the same addresses."""
        self._replies.update(replies)
        self.unused.update(replies)

    async def send(self, request: Request) -> Response:
        """The reply for an address; what none is for, refuses as a host that is down does."""
        address = f"{request.url}?{urlencode([(name, str(value)) for name, value in request.query])}"
        names = sorted((name for name in self._replies if name in address), key=len, reverse=True)
        if not names:
            self.strange.append(f"{request.provider}: {request.method} {address}")
            raise Fault("upstream_unavailable", f"{request.provider or request.url} has no part in this recipe")
        self.unused.discard(names[0])
        reply = self._replies[names[0]]
        if "json" in reply:
            return Response(
                reply.get("status", 200),
                {"content-type": "application/json"},
                json.dumps(reply["json"]).encode(),
                request.url,
            )
        kind = {"html": "text/html; charset=utf-8", "xml": "application/xml", "text": "text/plain; charset=utf-8"}
        word = next((one for one in kind if one in reply), "text")
        return Response(
            reply.get("status", 200), {"content-type": kind[word]}, str(reply.get(word, "")).encode(), request.url
        )

    async def aclose(self) -> None:
        """Nothing is open."""


async def cook(recipe: Mapping[str, Any], model: Model, strange: list[str]) -> list[tuple[dict[str, Any], str]]:
    """The arguments of each call with what is shown of its answer; requests that nobody answers are added to a list."""
    collections = open_memory([one.spec for one in model.collections.values()], clock=lambda: NOW)
    upstreams = RecipeUpstreams(recipe.get("replies") or {}, strange)
    environ = {f"{name.upper()}_RATE": "1000/s" for name in model.providers}
    await grant_locally(collections.drawer("consents", OWNER), OWNER, NOW)
    kept: dict[str, str] = {}
    shown = []
    with tempfile.TemporaryDirectory() as folder:
        executor = Executor(
            model,
            environ={**environ, "SPECLOOM_PAPERS": folder, **(recipe.get("environ") or {})},
            sender=upstreams,
            drawers=collections,
            artifacts=Artifacts(collections, model.address_artifact),
            clock=lambda: NOW,
        )
        presenter = Presenter(executor)
        try:
            for step in recipe["calls"]:
                upstreams.learn(step.get("replies") or {})
                arguments = _fill(step.get("args") or {}, kept)
                done = await executor.call(step["tool"], arguments, owner=OWNER)
                text = (await presenter.present(step["tool"], done, OWNER)).text
                if done.fault and not step.get("fails"):
                    raise CookbookError(f"{step['tool']} fails: {text}")
                for name, path in (step.get("keep") or {}).items():
                    kept[name] = str(jmespath.search(path, done.answer))
                shown.append((arguments, _show(step, done.answer, text or "")))
        finally:
            await executor.aclose()
    if upstreams.unused:
        raise CookbookError(f"nobody asks for {', '.join(sorted(upstreams.unused))}")
    return [(_hide(arguments, kept), _hide(answer, kept)) for arguments, answer in shown]


def _fill(value: Any, kept: Mapping[str, str]) -> Any:
    """A value in which `$name` is what an earlier call gave."""
    if isinstance(value, dict):
        return {key: _fill(one, kept) for key, one in value.items()}
    if isinstance(value, list):
        return [_fill(one, kept) for one in value]
    return kept.get(value[1:], value) if isinstance(value, str) and value.startswith("$") else value


def _hide(value: Any, kept: Mapping[str, str]) -> Any:
    """A value in which what an earlier call gave is its name, because it is another one each time."""
    text = json.dumps(value, ensure_ascii=False)
    for name, one in kept.items():
        text = text.replace(one, f"<{name}>")
    return json.loads(text)


def _show(step: Mapping[str, Any], answer: Any, text: str) -> str:
    """What of an answer is shown: lines of its text, or what an expression picks of its JSON."""
    if "lines" in step:
        first, last = step["lines"]
        return "```markdown\n" + "\n".join(text.splitlines()[first - 1 : last]).strip("\n") + "\n```"
    picked = jmespath.search(step["show"], answer)
    if picked in (None, [], {}) or (isinstance(picked, dict) and None in picked.values()):
        raise CookbookError(f"{step['tool']}: `{step['show']}` picks something that is not there")
    if isinstance(picked, str):
        return f"```{step.get('as', 'text')}\n{picked.strip()}\n```"
    return "```json\n" + to_lines(picked) + "\n```"


def to_lines(value: Any, indent: str = "") -> str:
    """JSON in which what fits into a line is on one."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(flat) <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return flat
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {to_lines(one, inner)}" for key, one in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + to_lines(one, inner) for one in value) + f"\n{indent}]"


def write_page(path: Path, recipe: Mapping[str, Any], cooked: Sequence[tuple[dict[str, Any], str]]) -> str:
    """The page of a recipe."""
    lines = [HEAD.format(path=path.relative_to(ROOT).as_posix()), "", f"# {recipe['title']}", "", recipe["why"].strip()]
    for step, (arguments, answer) in zip(recipe["calls"], cooked, strict=True):
        lines += ["", step["says"].strip()]
        lines += ["", f"`{step['tool']}`", "", "```json", to_lines(arguments), "```", ""]
        lines += ["The answer, cut to what matters here:", "", answer]
        if "read" in step:
            lines += ["", step["read"].strip()]
    lines += ["", f"**What to read in it.** {recipe['read'].strip()}"]
    return "\n".join(lines) + "\n"


def write_index(recipes: Mapping[Path, Mapping[str, Any]]) -> str:
    """The first page of the cookbook."""
    rows = [f"| [{one['title']}]({path.stem}.md) | {', '.join(tools_of(one))} |" for path, one in recipes.items()]
    return "\n".join(
        [
            HEAD.format(path="scripts/cookbook"),
            "",
            "# Cookbook",
            "",
            "Tasks of research, each with the calls that do it and what comes back.",
            "The calls are what a model sends: ask for the task in words, or try `specloom call TOOL KEY=VALUE`.",
            "Answers are the engine's own over replies of the shape that the services have, with invented names.",
            "",
            "| task | tools |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def tools_of(recipe: Mapping[str, Any]) -> list[str]:
    """The tools of a recipe, each once."""
    return list(dict.fromkeys(f"`{step['tool']}`" for step in recipe["calls"]))


def make_pages(*, tell: bool = False) -> dict[Path, str]:
    """Every page of the cookbook by its path; with `tell` the requests that nobody answered are printed."""
    model = load_served({**os.environ, "SPECLOOM_PATH": "", "SPECLOOM_PROJECT": ""}).model
    recipes = {path: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(RECIPES.glob("*.yaml"))}
    recipes = dict(sorted(recipes.items(), key=lambda one: one[1]["place"]))
    pages = {PAGES / "README.md": write_index(recipes)}
    for path, recipe in recipes.items():
        strange: list[str] = []
        try:
            cooked = asyncio.run(cook(recipe, model, strange))
        except (CookbookError, Fault) as error:
            if not tell:
                raise CookbookError(f"{path.name}: {error}") from None
            sys.stderr.write(f"{path.name}: {error}\n")
            continue
        finally:
            if tell:
                sys.stdout.write("".join(f"{path.stem}: nobody answered {line}\n" for line in dict.fromkeys(strange)))
        pages[PAGES / f"{path.stem}.md"] = write_page(path, recipe, cooked)
    return pages


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if a page is out of date")
    parser.add_argument("--unanswered", action="store_true", help="tell which requests no reply of a recipe is for")
    options = parser.parse_args(words)
    try:
        pages = make_pages(tell=options.unanswered)
    except CookbookError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    stale = [path for path in PAGES.glob("*.md") if path not in pages]
    wrong = [path for path, text in pages.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if options.check:
        names = ", ".join(path.relative_to(ROOT).as_posix() for path in (*stale, *wrong))
        if names:
            sys.stderr.write(f"not what the recipes give: {names}; run `make docs` and commit the result\n")
        return 1 if names else 0
    PAGES.mkdir(exist_ok=True)
    for path in stale:
        path.unlink()
    for path in wrong:
        path.write_text(pages[path], encoding="utf-8", newline="\n")
        sys.stdout.write(f"wrote {path.relative_to(ROOT).as_posix()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
