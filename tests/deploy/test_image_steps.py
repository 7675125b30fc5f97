"""The Dockerfile of the checkout: its steps run in their order, and what is wrong with one is told with its line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scripts.image_steps import DOCKERFILE, ImageError, check, needed, parse

needs_shell = pytest.mark.skipif(os.name == "nt", reason="the steps of an image run in a shell of Unix")
BASE = "FROM python:3.13-slim AS base\n"
IMAGE = """\
FROM python:3.13-slim AS build
WORKDIR /source
# What is copied
COPY a.txt \\
    b.txt ./
RUN --mount=type=cache,target=/root/.cache/pip cat a.txt b.txt > /opt/both.txt

FROM build AS more
RUN echo more >> /opt/both.txt

FROM python:3.13-slim AS last
COPY --from=more /opt/both.txt /opt/said/
ENV PATH=/opt/said:$PATH
WORKDIR /data
USER 65534:65534
ENTRYPOINT ["sh", "-c", "test \\"$0\\" = serve && exit 3; cat ../opt/said/both.txt; exit 0"]
CMD ["--http"]
"""


@pytest.fixture
def context(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("a\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("b\n", encoding="utf-8")
    return tmp_path


def test_a_target_is_made_of_the_stages_that_it_needs_in_their_order() -> None:
    stages = parse(DOCKERFILE.read_text(encoding="utf-8"))

    assert [stage.name for stage in needed(stages, "server")] == ["build", "base", "server"]
    assert [stage.name for stage in needed(stages, "browser")] == ["build", "build-browser", "base", "browser"]


def test_the_stage_that_a_build_makes_is_the_small_one_that_runs_as_nobody() -> None:
    stages = parse(DOCKERFILE.read_text(encoding="utf-8"))
    users = [step.text for stage in needed(stages, stages[-1].name) for step in stage.steps if step.word == "USER"]

    assert stages[-1].name == "server"
    assert users[-1] == "65534:65534"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("RUN true\n", "line 1: the first instruction is FROM, and this is RUN"),
        (f"{BASE}RUNN true\n", "line 2: RUNN is no instruction that is known here"),
        (f"{BASE}# a\n\nRUN true \\\n", "line 4: the last line goes on, and nothing follows"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ImageError, match=f"^{says}$"):
        parse(text)


@pytest.mark.process
@needs_shell
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{BASE}COPY c.txt ./\n", "line 2: there is no c.txt"),
        (f"{BASE}RUN echo a && false\n", "line 2: RUN ended with 1\na\n"),
        (f"{BASE}COPY --from=later /opt ./\nFROM base AS later\n", "line 2: 'later' is no stage before 'base'"),
        ("FROM scratch AS base\n", "base: the base 'scratch' has no Python that is known here"),
        (f'{BASE}ENTRYPOINT ["true"]\n', "base: it would run as root"),
        (f'{BASE}USER 1\nENTRYPOINT ["sh", "-c", "exit 1"]\n', "base: --version ended with 1, not 0\n"),
    ],
)
def test_a_step_that_cannot_be_done_is_told_with_its_line(context: Path, text: str, says: str) -> None:
    with pytest.raises(ImageError) as raised:
        check("base", offline=False, text=text, context=context)

    assert str(raised.value) == says


@pytest.mark.process
@needs_shell
def test_steps_run_in_their_order_each_on_what_the_ones_before_have_left(context: Path) -> None:
    with pytest.raises(ImageError) as raised:
        check("last", offline=False, text=IMAGE, context=context)

    assert str(raised.value) == "last: serve ended with 3, not 0\n"
    with pytest.raises(ImageError) as raised:
        check("last", offline=False, text=IMAGE.replace("exit 0", "exit 7"), context=context)

    assert str(raised.value) == "last: --version ended with 7, not 0\na\nb\nmore\n"


@pytest.mark.slow
@pytest.mark.process
@needs_shell
@pytest.mark.parametrize("target", ["server", "browser"])
def test_every_step_of_the_file_runs_and_what_it_starts_answers(target: str) -> None:
    left_out = check(target, offline=True)

    assert [line.split()[:2] for line in left_out] == (
        [["apt-get", "update"], ["apt-get", "install"]] if target == "browser" else []
    )
