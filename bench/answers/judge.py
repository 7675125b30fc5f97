"""Whether the answers of the tools carry the sentence that answers, and at what cost: 200 questions with their answers.

    judge.py [--work DIR] [--json FILE] [--raise] [--rival PROGRAM] [--modules DIR] [--half tuned|kept] [--only PREFIX]
             [--misses tuned]

Questions stand in questions.json; each was written by reading a page or a recorded payload, in other words than the
source, with words of the answer that have to stand near each other in a text for it to be found. A page is asked for

- by `search_and_scrape` with the question as query, among two other pages that are as long;
- by `scrape_page` as it is called by default;
- by `read_more` with the question as query;

and a payload by its search tool, whose upstream answers with the recording. Each text is held against plain truncation
at the same tokens, against the whole (all text of the same pages; the payload as it came), and against the server
`--rival PROGRAM` on the same pages. Questions are in two halves: rules are tuned on `tuned` only, `kept` is counted and
not looked at. Fails where a figure, with tokens as the engine estimates them, is below its floor in floors.json;
`--raise` lifts the floors to what was measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from client import Client, call
from upstreams import KEYS, answering, find_recordings, to_provider, write_layer
from verdict import find_answers, to_words, without_signs
from web import PAGES, Question, find_pages, serving

from specloom.core import count_tokens
from specloom.domains.text import find_end

HERE: Final = Path(__file__).parent
QUESTIONS: Final = HERE / "questions.json"
FLOORS: Final = HERE / "floors.json"
SPECS: Final = HERE.parents[1] / "providers.d"
SETS: Final = ("wcxb", "zyte", "magic")
SEED: Final = 20
ROWS: Final = 10
"""Rows that a search is asked for."""
WHOLE: Final = 100_000
"""Tokens and more that the whole text of a page may have."""
SLACK: Final = 0.005
"""How far below a measured share its floor is set."""
NAMED: Final = ("clinical_search", "legal_search")
"""Search tools that have one provider and take no name of one."""
FILLS: Final = "scrape_page"
"""The way of asking that fills its budget with the beginning of a page, so that its tokens are no merit."""
_TAG: Final = re.compile("</?[a-z]{1,10}>")
COUNT: Final = """
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const { countTokens } = createRequire(process.argv[1] + "/")("gpt-tokenizer/encoding/o200k_base");
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => countTokens(text))));
"""


@dataclass(frozen=True, slots=True)
class Told:
    """What one way of asking gave for one question, and the whole that it was taken from."""

    way: str
    half: str
    id: str
    found: bool
    cut: bool
    """Whether plain truncation at the same tokens has the answer."""
    whole: bool
    """Whether the whole has it."""
    text: str
    everything: str


def load_questions(half: str = "", only: str = "") -> list[dict[str, Any]]:
    """The questions, of one half or of both."""
    rows: list[dict[str, Any]] = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    return [row for row in rows if half in ("", row["half"]) and row["id"].startswith(only)]


def has_answer(text: str, question: Mapping[str, Any]) -> bool:
    """Whether a text says what answers a question."""
    return bool(find_answers(to_words(_to_plain(text)), question["near"]))


def _to_plain(text: str) -> str:
    """What is read of a text that is JSON: its texts and numbers, without what JSON makes of their breaks."""
    try:
        data = json.loads(text) if text[:1] in "{[" else text
    except ValueError:
        return text
    return "\n".join(_to_leaves(data))


def _to_leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _to_leaves(one)
    elif value is not None:
        yield str(value)


def choose_company(questions: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """For each question its page among others that are asked about, in an order by chance."""
    pages = sorted({row["page"] for row in questions})
    company = {}
    for row in questions:
        chance = random.Random(f"{SEED} {row['id']}")
        others = chance.sample([page for page in pages if page != row["page"]], PAGES - 1)
        company[row["id"]] = tuple(chance.sample([row["page"], *others], PAGES))
    return company


class Server:
    """A server whose tools are called one after the other."""

    def __init__(self, client: Client) -> None:
        self.client, self.number = client, 0

    def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a call: its text under `said`, and its structure."""
        self.number += 1
        answer = json.loads(self.client.ask(call(self.number, name, arguments)))
        result: dict[str, Any] = answer.get("result") or {"content": [{"text": json.dumps(answer.get("error"))}]}
        result["said"] = "".join(part.get("text", "") for part in result["content"])
        return result


def ask_pages(work: Path, questions: Sequence[dict[str, Any]], rival: str) -> Iterator[Told]:
    """All ways of asking for what stands on pages."""
    folder = find_pages(work, SETS)
    company = choose_company(load_pages())
    webs = [Question(row["ask"], company[row["id"]]) for row in questions]
    with serving(folder, webs) as address:
        environ = {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            "HOME": str(work),
            "SEARXNG_URL": address,
        }
        ours = {
            **environ,
            "SPECLOOM_ALLOW_PRIVATE": "true",
            "SEARCH_ROUTING": "searxng",
            "CHROME_PATH": "disabled",
            "SPECLOOM_CACHE": "off",
        }
        wholes: dict[str, str] = {}
        with Client([sys.executable, "-m", "specloom", "serve"], ours) as client:
            client.shake()
            server = Server(client)
            for row, web in zip(questions, webs, strict=True):
                for page in web.pages:
                    if page not in wholes:
                        wholes[page] = read_whole(server, f"{address}/{page}")
                texts = [wholes[page] for page in web.pages]
                own = wholes[row["page"]]
                source = f"{address}/{row['page']}"
                said = server.call("search_and_scrape", {"query": row["ask"]})["said"]
                yield judge("search_and_scrape", row, said, texts)
                yield judge("scrape_page", row, server.call("scrape_page", {"url": source})["said"], [own])
                said = server.call("read_more", {"source": source, "query": row["ask"]})["said"]
                yield judge("read_more", row, said, [own])
        if rival:
            theirs = {**environ, "ALLOW_PRIVATE_IPS": "true", "SEARCH_PROVIDER": "searxng"}
            with Client([rival], theirs) as client:
                client.shake()
                server = Server(client)
                for row, web in zip(questions, webs, strict=True):
                    texts = [wholes[page] for page in web.pages]
                    said = server.call("search_and_scrape", {"query": row["ask"]})["said"]
                    yield judge("rival search_and_scrape", row, said, texts)
                    said = server.call("scrape_page", {"url": f"{address}/{row['page']}"})["said"]
                    yield judge("rival scrape_page", row, said, [wholes[row["page"]]])


def load_pages() -> list[dict[str, Any]]:
    """The questions about pages."""
    return [row for row in load_questions() if "page" in row]


def read_whole(server: Server, address: str) -> str:
    """All text of a page, in as many calls as it takes."""
    result = server.call("scrape_page", {"url": address, "max_length": 5_000_000, "max_tokens": WHOLE})
    told: dict[str, Any] = result.get("structuredContent") or {}
    text: str = told.get("content", "")
    while (onward := told.get("readOn")) and len(text) < 2_000_000:
        told = server.call("read_more", {**onward, "max_tokens": WHOLE}).get("structuredContent") or {}
        text += told.get("content", "")
    return text


def judge(way: str, question: Mapping[str, Any], said: str, texts: Sequence[str]) -> Told:
    """What a text is worth beside as many tokens of the beginnings of the texts it was taken from."""
    room = count_tokens(said) // len(texts)
    cut = "\n\n".join(text[: find_end(text, 0, room, cost=count_tokens)] for text in texts)
    everything = "\n\n".join(texts)
    return Told(
        way,
        question["half"],
        question["id"],
        has_answer(said, question),
        has_answer(cut, question),
        has_answer(everything, question),
        said,
        everything,
    )


def ask_payloads(work: Path, questions: Sequence[dict[str, Any]]) -> Iterator[Told]:
    """The search tools, each over a provider that answers with what was recorded of it."""
    recordings = find_recordings()
    with answering() as upstreams:
        environ = {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            "HOME": str(work),
            "SPECLOOM_CACHE": "off",
            **KEYS,
            **write_layer(work / "layer", SPECS, upstreams.address),
        }
        with Client([sys.executable, "-m", "specloom", "serve", "--toolset", "all"], environ) as client:
            client.shake()
            server = Server(client)
            for row in questions:
                provider = to_provider(row["payload"])
                upstreams.now = {provider: recordings / row["payload"]}
                arguments = {"query": row["query"], "num_results": ROWS}
                if row["tool"] not in NAMED:
                    arguments["provider"] = provider
                body = (recordings / row["payload"]).read_text(encoding="utf-8")
                yield judge(row["tool"], row, server.call(row["tool"], arguments)["said"], [_to_text(body)])


def _to_text(body: str) -> str:
    """A payload with the characters that JSON and HTML escape, and without tags."""
    with suppress(ValueError):
        body = json.dumps(json.loads(body), ensure_ascii=False)
    return _TAG.sub("", unescape(body))


# --- Figures ----------------------------------------------------------------------------------------------------------


def count_by_tokeniser(modules: Path, texts: Sequence[str]) -> list[int]:
    """What o200k_base counts for each text."""
    command = ["node", "--input-type=module", "-e", COUNT, str(modules.resolve())]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    return [int(count) for count in json.loads(done.stdout)]


def sum_up(rows: Sequence[Told], modules: Path | None) -> dict[str, dict[str, float]]:
    """The figures of each way of asking, for each half and for both."""

    def count(texts: Sequence[str]) -> list[int]:
        return count_by_tokeniser(modules, texts) if modules else [count_tokens(text) for text in texts]

    groups: dict[str, list[Told]] = defaultdict(list)
    for row in rows:
        groups[f"{row.way} {row.half}"].append(row)
        groups[f"{row.way} both"].append(row)
    figures = {}
    for name, group in groups.items():
        spent, words = count([row.text for row in group]), count([without_signs(row.text) for row in group])
        everything = count([row.everything for row in group])
        there = [row for row in group if row.whole]
        figures[name] = {
            "questions": len(group),
            "found": _share(row.found for row in group),
            "found of whole": _share(row.found for row in there),
            "truncated": _share(row.cut for row in group),
            "whole": _share(row.whole for row in group),
            "tokens": statistics.median(spent),
            "of whole tokens": sum(spent) / max(1, sum(everything)),
            "signs": 1 - sum(words) / max(1, sum(spent)),
        }
    return figures


def _share(values: Any) -> float:
    said = list(values)
    return sum(said) / len(said) if said else 0.0


def show(figures: Mapping[str, Mapping[str, float]]) -> None:
    """The figures as a table."""
    names = list(next(iter(figures.values())))
    print("| way of asking | " + " | ".join(names) + " |")
    print("|---|" + "---:|" * len(names))
    for way in sorted(figures, key=lambda one: (one.startswith("rival"), one)):
        cells = [
            f"{value:,.0f}" if name in ("questions", "tokens") else f"{value:.3f}"
            for name, value in figures[way].items()
        ]
        print(f"| {way} | " + " | ".join(cells) + " |")


def check(figures: Mapping[str, Mapping[str, float]], *, lift: bool) -> list[str]:
    """The shares that are below their floors. A share of tokens is held as the part that is spared."""
    judged = {}
    for way, row in figures.items():
        if not way.startswith("rival") and not way.endswith("both"):
            judged[f"{way} found of whole"] = row["found of whole"]
            if not way.startswith(FILLS):
                judged[f"{way} tokens spared"] = 1 - row["of whole tokens"]
    floors: dict[str, float] = json.loads(FLOORS.read_text(encoding="utf-8")) if FLOORS.exists() else {}
    low = [
        f"{name}: {judged[name]:.3f} is below its floor {floor}"
        for name, floor in floors.items()
        if name in judged and judged[name] < floor
    ]
    if lift:
        raised = {name: max(floors.get(name, 0.0), round(value - SLACK, 3)) for name, value in judged.items()}
        FLOORS.write_text(json.dumps({**floors, **raised}, indent=1) + "\n", encoding="utf-8")
    return low


def main() -> None:
    """Print the figures; leave with what is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="where the pages are unpacked")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--raise", dest="lift", action="store_true")
    parser.add_argument("--rival", default="", metavar="PROGRAM", help="a server with tools of the same names")
    parser.add_argument("--modules", type=Path, help="a folder with node_modules/gpt-tokenizer, which counts then")
    parser.add_argument("--half", default="", choices=("", "tuned", "kept"))
    parser.add_argument("--only", default="", metavar="PREFIX", help="questions whose id begins so")
    parser.add_argument("--misses", choices=("tuned",), help="name the questions of that half that were not answered")
    options = parser.parse_args()
    questions = load_questions(options.half, options.only)
    with tempfile.TemporaryDirectory(prefix="specloom-answers-") as folder:
        work = options.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        rows = list(ask_payloads(Path(folder), [row for row in questions if "payload" in row]))
        rows += ask_pages(work, [row for row in questions if "page" in row], options.rival)
    figures = sum_up(rows, options.modules)
    show(figures)
    if not options.rival:
        print("\nNo rival was named, so nothing is beside it; --rival PROGRAM starts one.")
    if options.misses:
        for row in rows:
            if row.half == options.misses and row.whole and not row.found and not row.way.startswith("rival"):
                print(f"  {row.way}: {row.id}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if low := check(sum_up(rows, None) if options.modules else figures, lift=options.lift):
        sys.exit("\n".join(low))


if __name__ == "__main__":
    main()
