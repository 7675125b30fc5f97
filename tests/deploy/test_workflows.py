"""The workflows try every system and Python that we name, publish what was tried, and give steps what they need."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in FILES}
WORKFLOWS: dict[str, dict[Any, Any]] = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
CHECKS, RELEASE = WORKFLOWS["checks"]["jobs"], WORKFLOWS["release"]["jobs"]
SYSTEMS = {"ubuntu-latest", "macos-latest", "windows-latest"}


def steps(workflow: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in WORKFLOWS[workflow]["jobs"].items():
        for step in job.get("steps", ()):
            yield name, step


def ancestors(job: str) -> set[str]:
    """What has to have passed before a job of the release begins."""
    needs = RELEASE[job].get("needs", [])
    direct = {needs} if isinstance(needs, str) else set(needs)
    return direct.union(*map(ancestors, direct))


@pytest.mark.parametrize("name", TEXTS)
def test_actions_are_those_of_one_commit(name: str) -> None:
    used = re.findall(r"uses: (\S+)(.*)", TEXTS[name])

    assert used
    for action, comment in used:
        if not action.startswith("./"):
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


def test_an_action_is_of_the_same_commit_everywhere() -> None:
    used = {action for text in TEXTS.values() for action in re.findall(r"uses: ([^.\s]\S+)", text)}

    assert len(used) == len({action.partition("@")[0] for action in used})


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_allowed_but_what_a_job_names(name: str) -> None:
    assert WORKFLOWS[name]["permissions"] == {}
    own = [job for job in WORKFLOWS[name]["jobs"].values() if "uses" not in job]
    assert all("permissions" in job and "timeout-minutes" in job for job in own)
    for _, step in steps(name):
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_of_others_becomes_part_of_a_command(name: str) -> None:
    assert [step["run"] for _, step in steps(name) if "${{" in step.get("run", "")] == []


def test_the_tests_run_on_three_systems_and_every_python_that_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {match[1] for one in project["classifiers"] if (match := re.fullmatch(r".*Python :: (3\.\d+)", one))}
    matrix = CHECKS["test"]["strategy"]["matrix"]

    assert named <= set(matrix["python"])
    assert project["requires-python"] == f">={matrix['python'][0]}"
    assert set(matrix["os"]) == set(RELEASE["smoke"]["strategy"]["matrix"]["os"]) == SYSTEMS
    assert set(RELEASE["smoke"]["strategy"]["matrix"]["python"]) == {matrix["python"][0], matrix["python"][-1]}


def test_what_is_left_out_of_the_quick_tests_is_what_make_leaves_out() -> None:
    (deep,) = re.findall(r"^DEEP := (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)

    assert f'-m "not ({deep})"' in TEXTS["checks"]


@pytest.mark.parametrize("job", ["publish", "image", "announce"])
def test_nothing_is_published_that_was_not_tried(job: str) -> None:
    assert ancestors(job) >= {"checks", "build", "smoke"}


def test_the_release_is_told_last() -> None:
    assert ancestors("announce") == set(RELEASE) - {"announce"}


def test_who_can_sign_is_who_builds_and_publishes_and_no_token_is_kept() -> None:
    signs = {name for name, job in RELEASE.items() if job["permissions"].get("id-token") == "write"}

    assert signs == {"build", "image", "publish"}
    assert {name for name, job in RELEASE.items() if job.get("environment") == "release"} == {"publish", "image"}
    assert set(re.findall(r"secrets\.(\w+)", "".join(TEXTS.values()))) == {"GITHUB_TOKEN"}


def test_both_images_are_those_of_the_dockerfile() -> None:
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    targets = {one["target"] for one in RELEASE["image"]["strategy"]["matrix"]["include"]}

    assert targets == {"server", "browser"}
    assert targets <= set(re.findall(r"^FROM .+ AS (\S+)", dockerfile, re.MULTILINE))


def test_what_make_is_asked_for_is_there() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    asked = {word for text in TEXTS.values() for word in re.findall(r"run: make (\S+)", text)}

    assert asked
    assert asked <= targets
    assert (ROOT / ".ci" / "run").is_file()
