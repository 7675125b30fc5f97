"""Whether default calls of `search_and_scrape` carry text of every source that was read, within their budget.

    run.py [--calls 40] [--seed 1] [--work DIR] [--json FILE] [--show N]

Each call finds three real pages on loopback; see web.py. Sentences of each page are looked for in the text that a model
is sent. Fails where a source that was read is not heard, or an answer is over its budget by more than a tenth.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from client import Client, call
from web import PAGES, Question, find_pages, make_questions, serving

from specloom.core import count_tokens

BUDGET, OVER = 6_000, 1.1
LEAST_HEARD = 30
"""Characters of a page's line that have to stand in the answer for the page to be heard."""


def measure(client: Client, number: int, question: Question, address: str) -> dict[str, Any]:
    """The figures of one default call."""
    answer = json.loads(client.ask(call(number, "search_and_scrape", {"query": question.query})))["result"]
    text = "".join(part.get("text", "") for part in answer["content"])
    if answer.get("isError"):
        none = dict.fromkeys(("heard", "failed", "told", "text", "json"), 0)
        return {**none, "query": f"{question.query}: {text[:300]}", "read": len(question.pages), "said": text}
    told = answer["structuredContent"]
    read = [one for one in told.get("sources", ()) if one.get("content")]
    failed = [one["url"] for one in told.get("scrapeFailures", ())]
    urls = [f"{address}/{name}" for name in question.pages]
    return {
        "query": question.query,
        "heard": sum(_is_heard(one["content"], text) for one in read),
        "read": len(urls) - len(failed),
        "failed": len(failed),
        "told": sum(url in text for url in failed),
        "text": count_tokens(text),
        "json": count_tokens(json.dumps(told, ensure_ascii=False, separators=(",", ":"))),
        "said": text,
    }


def _is_heard(content: str, text: str) -> bool:
    lines = [line.strip() for line in content.splitlines() if not line.startswith(("@", "#"))]
    return any(len(line) >= LEAST_HEARD and line in text for line in lines) or content.strip() in text


def run(calls: int, seed: int, work: Path) -> list[dict[str, Any]]:
    """All calls, over one server."""
    folder = find_pages(work)
    questions = make_questions(folder, calls, seed)
    with serving(folder, questions) as address:
        environ = {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            "HOME": str(work),
            "SPECLOOM_ALLOW_PRIVATE": "true",
            "SEARXNG_URL": address,
            "SEARCH_ROUTING": "searxng",
            "CHROME_PATH": "disabled",
        }
        with Client([sys.executable, "-m", "specloom", "serve"], environ) as client:
            client.shake()
            return [measure(client, number, one, address) for number, one in enumerate(questions, 1)]


def main() -> None:
    """Print the figures; leave with 1 where one misses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the text of the first N answers")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="specloom-answers-") as folder:
        rows = run(given.calls, given.seed, given.work or Path(folder))
    for row in rows[: given.show]:
        print(row["said"], end="\n\n=====\n\n")
    heard = [row for row in rows if row["heard"] >= row["read"] and row["told"] == row["failed"]]
    over = [row for row in rows if max(row["text"], row["json"]) > BUDGET * OVER]
    tokens = [row["text"] for row in rows]
    print(f"calls whose text has every source that was read: {len(heard)} of {len(rows)}, {PAGES} pages each")
    print(
        f"sources that failed and are told: {sum(row['told'] for row in rows)} of {sum(row['failed'] for row in rows)}"
    )
    print(f"calls over {BUDGET:,} tokens by more than a tenth: {len(over)}")
    print(f"tokens of a text: median {statistics.median(tokens):,.0f}, most {max(tokens):,}")
    print(f"tokens of the structure: most {max(row['json'] for row in rows):,}")
    for row in rows:
        if row not in heard or row in over:
            print(
                f"  {row['heard']} of {row['read']} heard, {row['text']:,} and {row['json']:,} tokens: {row['query']}"
            )
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    raise SystemExit(len(heard) < len(rows) or bool(over))


if __name__ == "__main__":
    main()
