"""Goes through `deploy/Dockerfile` where there is no builder: `python scripts/image_steps.py [--offline]`.

Each stage is a folder, and its steps run there in their order: COPY copies, RUN runs in a shell whose absolute paths
lead into the folder, and the entry point is started at last. The base image is an environment of this Python. What only
the system of an image can do (`apt-get`) is looked at and left out, which is told. `--offline` takes what is installed
here in the place of what an index would give.
"""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = ROOT / "deploy/Dockerfile"
KNOWN = frozenset({"FROM", "WORKDIR", "COPY", "RUN", "ENV", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "USER"})
KNOWN |= {"ENTRYPOINT", "CMD", "LABEL"}
OWN = ("opt", "wheels", "data", "source", "root", "var")
"""Folders of an image that its steps use by their absolute paths."""
PATIENCE = 900
_OWN_PATH = re.compile(rf"(?<![\w.$/])/(?={'|'.join(OWN)})")
_FLAG = re.compile(r"--[a-z]+=\S+\s+")


class ImageError(Exception):
    """Why a step cannot be done, in a sentence."""


@dataclass(frozen=True)
class Step:
    """An instruction with what follows it, its flags, and the line on which it begins."""

    word: str
    text: str
    line: int
    flags: Mapping[str, str]


@dataclass
class Stage:
    """A part of the file that begins with FROM: what it is made from, what it is called, and its steps."""

    base: str
    name: str
    steps: list[Step] = field(default_factory=list)


@dataclass
class Image:
    """What the steps of a stage have set for what is started in it."""

    environ: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = "root"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def copy(self) -> Image:
        return Image(dict(self.environ), self.workdir, self.user, list(self.entrypoint), list(self.command))


# --- The file ---------------------------------------------------------------------------------------------------------


def parse(text: str) -> list[Stage]:
    """The stages of a Dockerfile; ImageError where an instruction is not known here, or is before the first FROM."""
    stages: list[Stage] = []
    for number, line in _lines(text):
        word, _, rest = line.partition(" ")
        word = word.upper()
        if word not in KNOWN:
            raise ImageError(f"line {number}: {word} is no instruction that is known here")
        flags = {}
        rest = rest.strip()
        while match := _FLAG.match(rest):
            name, _, value = match[0].strip().partition("=")
            flags[name] = value
            rest = rest[match.end() :]
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            stages.append(Stage(base.strip(), name.strip() or str(len(stages))))
        elif not stages:
            raise ImageError(f"line {number}: the first instruction is FROM, and this is {word}")
        else:
            stages[-1].steps.append(Step(word, rest, number, flags))
    return stages


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each instruction on one line, with the number of its first."""
    begun, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or not line.strip():
            continue
        first = first or number
        begun += line.strip()
        if begun.endswith("\\"):
            begun = begun[:-1].rstrip() + " "
            continue
        yield first, begun
        begun, first = "", 0
    if begun:
        raise ImageError(f"line {first}: the last line goes on, and nothing follows")


def needed(stages: list[Stage], target: str) -> list[Stage]:
    """The stages that a target is made of, in the order of the file."""
    by_name = {stage.name: stage for stage in stages}
    if target not in by_name:
        raise ImageError(f"there is no stage {target!r}; there are {', '.join(by_name)}")
    wanted, waiting = set[str](), [target]
    while waiting:
        stage = by_name[waiting.pop()]
        wanted.add(stage.name)
        sources = [stage.base, *(step.flags.get("--from", "") for step in stage.steps)]
        waiting += [name for name in sources if name in by_name and name not in wanted]
    return [stage for stage in stages if stage.name in wanted]


# --- Its steps --------------------------------------------------------------------------------------------------------


class Builder:
    """Does the steps of stages in a folder, where the stage at work is always at the same place."""

    def __init__(self, work: Path, context: Path, *, offline: bool) -> None:
        self.work, self.context, self.offline = work, context, offline
        self.root = work / "root"
        self.images: dict[str, Image] = {}
        self._needs_pip = True
        self.left_out: list[str] = []
        """What was looked at and not done, a line each."""
        self._shims = work / "shims"
        self._shims.mkdir()
        for name, text in _SHIMS.items():
            path = self._shims / name
            path.write_text(text.replace("LOG", str(work / "apt.log")), encoding="utf-8")
            path.chmod(0o755)
        if offline:
            self._gather_installed()

    def build(self, stages: list[Stage]) -> Image:
        """Do all steps; the image of the last stage, which is at work when this is over."""
        self._needs_pip = any(" pip " in f" {step.text} " for stage in stages for step in stage.steps)
        for number, stage in enumerate(stages):
            self._begin(stage)
            for step in stage.steps:
                self._do(stage, step)
            if number < len(stages) - 1:
                self.root.rename(self._kept(stage.name))
        return self.images[stages[-1].name]

    def start(self, image: Image, *words: str) -> subprocess.CompletedProcess[str]:
        """The entry point with words in the place of its command, which has nothing on its standard input."""
        return self._run([*image.entrypoint, *words], image)

    def _kept(self, name: str) -> Path:
        return self.work / f"stage-{name}"

    def _begin(self, stage: Stage) -> None:
        if stage.base in self.images:
            shutil.copytree(self._kept(stage.base), self.root, symlinks=True)
            self.images[stage.name] = self.images[stage.base].copy()
            return
        if not fnmatch(stage.base, "python:3.1[1-9]*"):
            raise ImageError(f"{stage.name}: the base {stage.base!r} has no Python that is known here")
        for folder in ("opt", "root", "var/lib"):
            self._inside(folder).mkdir(parents=True)
        venv.create(self.root / "usr/local", with_pip=self._needs_pip, symlinks=True)
        self.images[stage.name] = Image({"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root"})

    def _do(self, stage: Stage, step: Step) -> None:
        image = self.images[stage.name]
        match step.word:
            case "WORKDIR":
                image.workdir = step.text
                self._inside(step.text).mkdir(parents=True, exist_ok=True)
            case "ENV":
                for pair in shlex.split(step.text):
                    name, _, value = pair.partition("=")
                    image.environ[name] = value.replace("$PATH", image.environ.get("PATH", ""))
            case "USER":
                image.user = step.text
            case "ENTRYPOINT":
                image.entrypoint, image.command = json.loads(step.text), []
            case "CMD":
                image.command = json.loads(step.text)
            case "HEALTHCHECK":
                json.loads(step.text[step.text.index("[") :])
            case "COPY":
                self._copy(stage, step, image)
            case "RUN":
                done = self._run(["/bin/sh", "-e", "-c", self._within(step.text)], image)
                if done.returncode:
                    said = (done.stdout + done.stderr)[-4000:]
                    raise ImageError(f"line {step.line}: RUN ended with {done.returncode}\n{said}")

    def _copy(self, stage: Stage, step: Step, image: Image) -> None:
        *sources, to = shlex.split(step.text)
        came_from = step.flags.get("--from", "")
        if came_from and came_from not in self.images:
            raise ImageError(f"line {step.line}: {came_from!r} is no stage before {stage.name!r}")
        target = self._inside(posixpath.join(image.workdir, to))
        for source in sources:
            path = (self._kept(came_from) / source.lstrip("/")) if came_from else self.context / source
            if not path.exists():
                raise ImageError(f"line {step.line}: there is no {source}")
            if path.is_dir():
                shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True, ignore=_IGNORED)
            else:
                into = target / path.name if to.endswith("/") else target
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, into)

    def _inside(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def _within(self, text: str) -> str:
        """A text in which absolute paths of the image lead into the folder."""
        return _OWN_PATH.sub(f"{self.root}/", text).replace("/usr/local/bin", f"{self.root}/usr/local/bin")

    def _run(self, words: list[str], image: Image) -> subprocess.CompletedProcess[str]:
        environ = {name: self._within(value) for name, value in image.environ.items()}
        environ["PATH"] = f"{self._shims}:{environ['PATH']}"
        kept = ("PIP_INDEX_URL", "PIP_CERT", "PIP_CONFIG_FILE", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy", "LANG")
        environ |= {name: os.environ[name] for name in kept if name in os.environ}
        environ |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_ROOT_USER_ACTION": "ignore"}
        if self.offline:
            # What is installed here counts as installed there, so that pip finds every requirement satisfied.
            environ |= {"PYTHONPATH": str(self.work / "installed"), "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
        program = shutil.which(words[0], path=environ["PATH"]) or words[0]
        log = self.work / "apt.log"
        try:
            return subprocess.run(  # noqa: S603 - the steps are those of the file in this checkout
                [program, *words[1:]],
                cwd=self._inside(image.workdir),
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=PATIENCE,
                check=False,
            )
        finally:
            if log.exists():
                self.left_out += log.read_text(encoding="utf-8").splitlines()
                log.unlink()

    def _gather_installed(self) -> None:
        """A folder of all that is installed here but specloom, which the steps are to install."""
        folder = self.work / "installed"
        folder.mkdir()
        for place in dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")):
            for path in Path(place).iterdir():
                is_own = path.name.lower().startswith(("specloom", "_specloom", "__editable__"))
                if not is_own and path.suffix != ".pth" and path.name not in ("pip", "__pycache__"):
                    (folder / path.name).symlink_to(path)


_IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc")
_SHIMS = {
    "apt-get": '#!/bin/sh\necho "apt-get $*" >> LOG\n',
    # Only root gives files away.
    "install": """#!/bin/sh
if [ "$(id -u)" != 0 ]; then
    for word; do
        shift
        case "$word" in -o|-g) skip=1 ;; *) [ "$skip" ] || set -- "$@" "$word"; skip= ;; esac
    done
fi
exec /usr/bin/install "$@"
""",
}


# --- The command ------------------------------------------------------------------------------------------------------


def check(target: str, *, offline: bool, text: str = "", context: Path = ROOT) -> list[str]:
    """Build a target and start it; what was left out. ImageError where a step or the start fails."""
    stages = needed(parse(text or DOCKERFILE.read_text(encoding="utf-8")), target)
    with tempfile.TemporaryDirectory(prefix="specloom-image-") as folder:
        builder = Builder(Path(folder).resolve(), context, offline=offline)
        image = builder.build(stages)
        if image.user in ("", "root", "0"):
            raise ImageError(f"{target}: it would run as root")
        for words, code in ((("--version",), 0), (("serve",), 0), (tuple(image.command), 2)):
            done = builder.start(image, *words)
            if done.returncode != code:
                said = (done.stdout + done.stderr)[-4000:]
                raise ImageError(f"{target}: {' '.join(words)} ended with {done.returncode}, not {code}\n{said}")
        return builder.left_out


def main() -> int:
    """Check the targets that are named, or both that are published."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--offline", action="store_true", help="install what is installed here, from no index")
    parser.add_argument("--target", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    for target in options.target or ("server", "browser"):
        try:
            left_out = check(target, offline=options.offline)
        except ImageError as error:
            sys.stdout.write(f"{target}: {error}\n")
            return 1
        said = "".join(f"  not done here: {line}\n" for line in left_out)
        sys.stdout.write(f"{target}: every step ran, and what it starts answers\n{said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
