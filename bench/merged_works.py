"""How many works several indexes have together, and the best of them alone: in recorded answers and in judged pairs.

    python bench/merged_works.py FOLDER     FOLDER holds providers/ with recorded answers

Recorded answers are of different questions, so that hardly a work is in two of them: what is counted there is that
nothing is joined which should not be. The pairs of tests/recordings/works.yaml are works that two indexes have, or two
that look alike; the share that the best index has of them is how much one would miss who asked it alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from specloom.core import Fault  # noqa: E402
from specloom.runtime.merge import merge  # noqa: E402
from tests.support.indexes import INDEXES, parse, to_rows  # noqa: E402
from tests.support.recordings import replay  # noqa: E402
from tests.support.shipped import shipped_model, shipped_tool  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specloom.model import Row

FOLDERS = {"semanticscholar": "semantic-scholar"}


def read_rows(folder: Path) -> Iterator[Row]:
    """The rows of every recorded answer to a search, with the index that gave it."""
    for index in INDEXES:
        place = 0
        for path in sorted((folder / "providers" / FOLDERS.get(index, index)).iterdir()):
            try:
                body: Any = json.loads(path.read_bytes()) if path.suffix == ".json" else path.read_bytes()
                rows, _ = replay(index, "scholarly", {"query": "any", "num_results": 100}, body)
            except (Fault, ValueError, AssertionError):
                continue  # an answer to something else
            for row in rows:
                place += 1
                yield {**row, "provider": index, "place": place}


def merged(rows: list[Row]) -> list[Row]:
    """The works of some rows."""
    stage = next(one.merge for one in shipped_tool("academic_search").after if one.merge is not None)
    return merge(rows, stage, shipped_model().providers, {}).rows


def tell(what: str, rows: list[Row]) -> None:
    """Print how many works there are, and how many of them each index has."""
    works = merged(rows)
    having = Counter(name for work in works for name in work["found_by"])
    several = sum(len(work["found_by"]) > 1 for work in works)
    best, most = having.most_common(1)[0]
    print(f"{what}: {len(rows)} rows, {len(works)} works, {several} of several indexes")
    for name, count in having.most_common():
        print(f"  {name:16} {count:4}  {count / len(works):.2f}")
    print(f"  all together have {len(works) / most:.2f} times the works of {best}, the best of them")


def main() -> int:
    """Print both counts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="holds providers/ with recorded answers")
    options = parser.parse_args()
    tell("recorded answers", list(read_rows(options.folder)))
    pairs = yaml.safe_load((ROOT / "tests" / "recordings" / "works.yaml").read_text("utf-8"))["pairs"]
    sent = dict.fromkeys(parse(pair[side]) for pair in pairs for side in ("one", "other"))
    tell("judged pairs", [row for index in INDEXES for row in to_rows(index, [w for w in sent if w.index == index])])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
