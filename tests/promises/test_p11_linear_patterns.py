"""Promise 11: no regular expression of the engine or of a shipped spec blows up on a text that was made against it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.pattern_attack import BOUNDS, LONGEST, Verdict, judge
from tests.support.pattern_finder import UNUSED, Expression, find_expressions

# Patterns that are given so many characters at most, wherever they are used: (module, how the pattern begins).
BOUNDED = {
    ("domains/trust/citations/reference.py", r"[\"“«„](?P<title>"): 4_000,  # _LONGEST
    ("language/functions/data.py", ""): 4_000,  # MAX_CAPTURED, what `capture` reads of a text
    ("specs/grammar.py", r"(?:/(.*)/|([a-z_]+))"): 200,  # the engine's own grammar.yaml
}
# What is made of a name of the text itself and cannot be read from the source: a run of one sign or a closing tag,
# rows of the engine's own tables, the forms in which an operator's secret may be written, and patterns that are among
# the others where they come from; a key of a host's own table, escaped, is held against single lines.
UNSEEN = frozenset(
    (
        "authoring/scaffold/common.py",
        "cli/host_file.py",
        "core/secrets.py",
        "domains/scrape/browser/browser.py",
        "domains/scrape/html/markdown_source.py",
        "domains/text/indented.py",
        "domains/text/links.py",
        "domains/trust/sources/recommendations.py",
        "model/resource.py",
        "specs/grammar.py",
    )
)
FEWEST = 850


def _most_read(expression: Expression) -> int:
    return next(
        (
            bound
            for (module, start), bound in BOUNDED.items()
            if expression.file.endswith(module) and expression.pattern.startswith(start)
        ),
        LONGEST,
    )


def _sweep(expressions: list[Expression], folder: Path) -> list[Verdict]:
    """The verdicts, slowest first."""
    tasks = [(expression, _most_read(expression)) for expression in expressions]
    size = 40
    parts = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1)) as pool:
        verdicts = [verdict for part in pool.map(lambda part: judge(part, folder), parts) for verdict in part]
    return sorted(verdicts, key=lambda verdict: -_share(verdict))


def _share(verdict: Verdict) -> float:
    """How much of its bound a pattern took."""
    return 1e9 if verdict.seconds is None else verdict.seconds / BOUNDS[verdict.length]


@pytest.mark.slow
def test_no_pattern_takes_long_over_a_text_that_was_made_against_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expressions, unseen = find_expressions()
    unique = {
        (expression.pattern, expression.flags, expression.ways): expression
        for expression in expressions
        if expression.ways != (UNUSED,)
    }

    verdicts = _sweep(list(unique.values()), tmp_path)

    with capsys.disabled():
        print(f"\n{len(verdicts)} patterns; the slowest:", *verdicts[:10], sep="\n  ")
    assert len(verdicts) >= FEWEST
    assert {call.partition(":")[0] for call in unseen} <= UNSEEN, unseen
    slow = [str(verdict) for verdict in verdicts if _share(verdict) > 1]
    assert not slow, "\n".join(slow)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "way", "is_slow"),
    [
        (r"(?:a+)+$", "match", True),
        (r"(?:\w+\s?)*:", "match", True),
        (r"\s+$", "search", True),
        (r"a\s*\s*\s*b", "search", True),
        (r"<!--.*?-->", "sub", True),
        (r"\[(?:\\.|[^\]\\])+\]", "findall", True),
        (r"[\w.]+@", "search", True),
        (r"\s+$", "match", False),
        (r"(?<!\s)\s++$", "search", False),
        (r"[\w.]{1,40}@", "search", False),
        (r"\w+(?:-\w+)*", "fullmatch", False),
    ],
)
def test_the_attack_tells_patterns_that_blow_up_from_others(
    pattern: str, way: str, is_slow: bool, tmp_path: Path
) -> None:
    (verdict,) = _sweep([Expression("a.py", 1, pattern, 32, False, (way,))], tmp_path)

    assert (_share(verdict) > 1) is is_slow, verdict
