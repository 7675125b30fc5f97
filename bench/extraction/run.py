"""How well content is found and rendered, beside other extractors, in one run on one machine.

    run.py [--tools traf,resiliparse,…] [--work DIR] [--json FILE] [--raise]

Prints F1, precision, recall, structure and milliseconds a page for specloom and for the tools it is compared with
(those of `tools.py` in the benchmark's folder), and how well the confidence tells good pages from bad ones.
Fails when a figure of specloom is below its floor in `floors.json`; `--raise` lifts the floors to what was measured.
The pages are found by SPECLOOM_BENCH; see labelled.py. They are those the model was learned from: what it reaches on
sites that it has not seen is printed by train.py.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from labelled import SETS, find_bench, load_scores, unpack

HERE = Path(__file__).parent
FLOORS = HERE / "floors.json"
TOOLS = ("traf", "traf_md_recall", "resiliparse", "naive", "readability_lxml", "html_to_markdown")
MARKDOWN = frozenset({"specloom", "naive", "traf_md_recall", "html_to_markdown"})
SLACK = 0.002
"""How far below a measured figure its floor is set: libraries differ a little between versions."""


def run(name: str, folder: Path, out: Path) -> None:
    """Runs one extractor over one set in a process of its own."""
    times = ["--times", str(out.with_suffix(".times.json"))]
    if name == "specloom":
        command = [
            sys.executable,
            str(HERE / "ours.py"),
            str(folder),
            str(out),
            "--facts",
            str(out.with_suffix(".facts.json")),
            *times,
        ]
    else:
        command = [sys.executable, str(find_bench() / "tools.py"), name, str(folder), str(out), *times]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measure(name: str, data: Path, work: Path) -> dict[str, Any]:
    """The figures of one extractor over all sets."""
    score, _ = load_scores()
    figures: dict[str, float] = {}
    struct: dict[str, list[float]] = defaultdict(list)
    times: list[float] = []
    pages: dict[str, dict[str, Any]] = {}
    for part in SETS:
        out = work / "out" / part / f"{name}.json"
        out.parent.mkdir(parents=True, exist_ok=True)
        run(name, data / part / "html", out)
        truth = score.load_truth(data / part)
        found = score.score(truth, json.loads(out.read_text(encoding="utf-8")), name in MARKDOWN, set_name=part)
        pages |= {f"{part}/{at}": page for at, page in found.items()}
        summary = score.summarise(found)
        for key, value in summary["word"].items():
            figures[f"{part} {key}"] = value
        if part == "zyte":
            figures["zyte shingle"] = summary["shingle"]["f1"]
        if part in {"wcxb", "magic"}:
            figures |= {f"{part} {kind}": value for kind, value in summary["word_by_type"].items()}
        for page in found.values():
            for key, value in page.get("st", {}).items():
                struct[key].append(value)
        times += json.loads(out.with_suffix(".times.json").read_text())["ms"].values()
    figures |= {f"struct {key}": statistics.mean(values) for key, values in struct.items()}
    figures |= {"ms median": statistics.median(times), "ms mean": statistics.mean(times)}
    if name == "specloom":
        figures |= judge_confidence(pages, work)
    return figures


def judge_confidence(pages: dict[str, dict[str, Any]], work: Path) -> dict[str, float]:
    """Rank correlation of confidence and F1, and the share of pages called complete that reach less than one half."""
    from scipy.stats import spearmanr

    confidences, scores, wrong = [], [], 0
    for part in SETS:
        facts = json.loads((work / "out" / part / "specloom.facts.json").read_text(encoding="utf-8"))
        for at, (confidence, quality, _) in facts.items():
            score = pages[f"{part}/{at}"].get("wf")
            if score is not None:
                confidences.append(confidence)
                scores.append(score)
                wrong += quality == "complete" and score < 0.5
    return {"confidence rank": float(spearmanr(confidences, scores)[0]), "complete but poor": wrong / len(scores)}


def show(rows: dict[str, dict[str, float]]) -> None:
    names = list(dict.fromkeys(key for row in rows.values() for key in row))
    print("| figure | " + " | ".join(rows) + " |")
    print("|---|" + "---:|" * len(rows))
    for name in names:
        digits = 1 if name.startswith("ms") else 3
        cells = [f"{row[name]:.{digits}f}" if name in row else "" for row in rows.values()]
        print(f"| {name} | " + " | ".join(cells) + " |")


def check(figures: dict[str, float], *, lift: bool) -> list[str]:
    """The figures that are below their floors; times have none, they belong to a machine."""
    floors: dict[str, float] = json.loads(FLOORS.read_text(encoding="utf-8")) if FLOORS.exists() else {}
    judged = {
        name: value for name, value in figures.items() if not name.startswith("ms") and name != "complete but poor"
    }
    low = [
        f"{name}: {judged.get(name, 0):.4f} is below its floor {floor}"
        for name, floor in floors.items()
        if judged.get(name, 0) < floor
    ]
    if lift:
        raised = {
            name: max(floors.get(name, 0.0), float(np.floor((value - SLACK) * 1000) / 1000))
            for name, value in judged.items()
        }
        FLOORS.write_text(json.dumps(raised, indent=1) + "\n", encoding="utf-8")
    return low


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=",".join(TOOLS), help="what to compare with; empty for nothing")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--raise", dest="lift", action="store_true")
    options = parser.parse_args()
    data = unpack(options.work)
    rows = {name: measure(name, data, data.parent) for name in ("specloom", *filter(None, options.tools.split(",")))}
    show(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if low := check(rows["specloom"], lift=options.lift):
        sys.exit("\n".join(low))


if __name__ == "__main__":
    main()
