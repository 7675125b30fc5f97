"""The verdict on all specs: what is wrong and how many there are; known at once if nothing changed since the last."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specloom import __version__
from specloom.core import (
    ENGINE_SUFFIXES,
    PAGE_TEMPLATES,
    PROMPT_SUFFIX,
    PROMPTS,
    Diagnostic,
    Place,
    Report,
    cache_folder,
    dataclass,
    make_folder,
    make_own_folder,
    shipped_folder,
)
from specloom.model import Model
from specloom.plugins import GROUP
from specloom.specs import (
    FOLDERS,
    Spec,
    check_marks,
    check_misplaced,
    check_overlooked,
    find_overlooked,
    parse_spec,
    prompt_files,
    shown_as,
    spec_files,
    template_files,
    view_files,
)

if TYPE_CHECKING:
    from .incremental.memory import Memory

FORMAT = 3


@dataclass(frozen=True, slots=True)
class SpecVerdict:
    """Every diagnostic in the order of files, how many of each kind there are, and how long it took."""

    diagnostics: tuple[Diagnostic, ...]
    counts: Mapping[str, int]
    sources: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    remembered: bool = False
    elsewhere: tuple[int, int] = (0, 0)
    """How many errors, and how many diagnostics in all, are in files that were not asked for and are left out here."""

    @property
    def errors(self) -> int:
        """How many of the diagnostics stop a build."""
        return sum(one.is_error for one in self.diagnostics)

    @property
    def warnings(self) -> int:
        """How many do not."""
        return len(self.diagnostics) - self.errors

    def to_json(self) -> dict[str, Any]:
        """The verdict as data."""
        return {
            "errors": self.errors,
            "warnings": self.warnings,
            "counts": dict(self.counts),
            "diagnostics": [one.to_json() for one in self.diagnostics],
            "seconds": round(self.seconds, 3),
            "remembered": self.remembered,
            "elsewhere": {"errors": self.elsewhere[0], "warnings": self.elsewhere[1] - self.elsewhere[0]},
        }

    def summary(self) -> str:
        """One line."""
        things = ", ".join(_count(number, name) for name, number in self.counts.items() if name != "examples")
        found = f"{_count(self.errors, 'errors')}, {_count(self.warnings, 'warnings')}"
        spent = "nothing changed" if self.remembered else f"in {self.seconds:.1f} s"
        said = f"{things}: {found}, {_count(self.counts.get('examples', 0), 'examples')} {spent}"
        errors, warnings = self.elsewhere[0], self.elsewhere[1] - self.elsewhere[0]
        more = [_count(number, what) for number, what in ((errors, "errors"), (warnings, "warnings")) if number]
        return f"{said}\n{' and '.join(more)} in other files; `specloom check` tells them" if more else said


_PLURALS = {"capability": "capabilities", "lens": "lenses"}


def _count(number: int, plural: str) -> str:
    singular = next((name for name, many in _PLURALS.items() if many == plural), plural.removesuffix("s"))
    return f"{number} {singular if number == 1 else plural}"


def judge(roots: Sequence[Path]) -> SpecVerdict:
    """Compile everything under these roots, run all examples, and look for what they do not show."""
    from specloom.compiler import check_prompts, weave_from

    from .coverage import check_coverage

    began = time.perf_counter()
    model, library, report = weave_from(roots)
    check_overlooked(roots, report)
    check_misplaced(roots, library, report)
    check_prompts(roots, library.of("tool"), library.of("lens"), report, library.sources)
    check_coverage(library, model, report)
    check_marks(library.specs.values(), report)
    kinds = ("tool", "provider", "capability", "lens", "collection", "resource")
    counts = {_PLURALS.get(kind, f"{kind}s"): len(library.of(kind)) for kind in kinds}
    listed = [spec.root.get("examples") for kind in kinds for spec in library.of(kind).values()]
    counts["examples"] = sum(len(getattr(node, "items", ())) for node in listed) + counts["lenses"]
    return SpecVerdict(tuple(report), counts, library.sources, time.perf_counter() - began)


def find_verdict(
    roots: Sequence[Path], environ: Mapping[str, str], *, remember: bool = True, paths: Sequence[Path] = ()
) -> SpecVerdict:
    """The verdict on these roots, as `judge` gives it; with `paths` what of it is about these files or folders.

    It is that of the last run when no spec and no part of the engine changed since. Where specs did, those files are
    checked that changed, and those whose last check read what is different now.
    """
    if not paths:
        return _find_whole(roots, environ)[0] if remember else judge(roots)
    from .focus import focus
    from .incremental.memory import Memory
    from .incremental.verdicts import Check

    if remember:
        verdict, recall = _find_whole(roots, environ)
    else:
        began = time.perf_counter()
        check = Check(roots, Memory())
        report = tuple(check.run())
        verdict = SpecVerdict(report, check.counts, check.library.sources, time.perf_counter() - began)

        def recall() -> Memory:
            return check.kept

    kept, left = focus(verdict.diagnostics, verdict.sources, paths, roots, recall)
    errors = sum(one.is_error for one in left)
    return replace(verdict, diagnostics=tuple(kept), elsewhere=(errors, len(left)))


def _find_whole(roots: Sequence[Path], environ: Mapping[str, str]) -> tuple[SpecVerdict, Callable[[], Memory]]:
    """The verdict on these roots, and what gives the verdicts on their files with what each of them read."""
    from .incremental.memory import load_memory

    began = time.perf_counter()
    sources = dict(_read_sources(roots))
    engine = _digest_engine()
    digest = _digest(engine, roots, sources)
    stamp, path = _stamp_path(roots, environ), _memory_path(roots, environ)
    verdict = _load_stamp(stamp, digest)
    if verdict is not None:
        texts = {name: data.removeprefix(BOM_UTF8).decode("utf-8", "replace") for name, data in sources.items()}

        def recall() -> Memory:
            memory = load_memory(path, engine)
            # A check of the same first layer with others beside it may have been the last.
            return memory if memory.of == digest else _judge_changed(roots, path, engine, digest, environ)[1]

        return replace(verdict, sources=texts, seconds=time.perf_counter() - began), recall
    verdict, memory = _judge_changed(roots, path, engine, digest, environ)
    verdict = replace(verdict, seconds=time.perf_counter() - began)
    _save_stamp(stamp, digest, verdict)
    return verdict, lambda: memory


def _judge_changed(
    roots: Sequence[Path], path: Path, engine: str, digest: str, environ: Mapping[str, str]
) -> tuple[SpecVerdict, Memory]:
    """The verdict that starts from those of each file in the last run, and its own, which it leaves for the next.

    They are kept for all checks of one first layer: what holds is seen file by file, whichever layers are beside it.
    """
    import gc

    from .incremental.memory import load_memory, save_memory
    from .incremental.verdicts import Check

    was_on = gc.isenabled()
    gc.disable()  # as for a compile: what is made stays
    try:
        check = Check(roots, load_memory(path, engine))
        report = check.run()
        memory = replace(check.kept, of=digest)
        with contextlib.suppress(OSError):
            make_own_folder(str(path.parent), environ)
            save_memory(path, engine, memory)
    finally:
        if was_on:
            gc.enable()
    return SpecVerdict(tuple(report), check.counts, check.library.sources), memory


def widen(paths: Iterable[Path], layers: Sequence[Path]) -> list[Path]:
    """The roots that a person's paths mean: a layer, a file, or the files of any other folder.

    What one of the layers holds is there already and is left out.
    """
    within = [layer.resolve() for layer in layers]
    found: list[Path] = []
    for path in paths:
        whole = path.resolve()
        if any(whole == layer or (layer in whole.parents and _is_read(whole, layer)) for layer in within):
            continue
        if whole.name.endswith(PROMPT_SUFFIX) and whole.parent.as_posix().endswith(f"/{PROMPTS}"):
            found.append(whole.parents[PROMPTS.count("/") + 1])
            continue
        if whole.is_dir() and not any((whole / folder).is_dir() for folder in (*FOLDERS, PROMPTS)):
            found += sorted(whole.rglob("*.yaml"))
        else:
            found.append(path)
    return found


def _is_read(path: Path, layer: Path) -> bool:
    at = path.relative_to(layer)
    return at.parts[0] in FOLDERS or at.as_posix().startswith(PROMPTS)


# --- what is remembered ---------------------------------------------------------------------------------------------


def _files(root: Path) -> list[Path]:
    return [*spec_files(root), *prompt_files(root), *template_files(root), *view_files(root)] if root.exists() else []


def stamp_files(roots: Sequence[Path]) -> list[tuple[str, int, int]]:
    """Changes with the files of these roots: their paths, sizes and times."""
    found = []
    for path in (path for root in roots for path in _files(root)):
        with contextlib.suppress(OSError):  # it is being replaced
            stat = path.stat()
            found.append((str(path), stat.st_size, stat.st_mtime_ns))
    return found


def _read_sources(roots: Sequence[Path]) -> Iterable[tuple[str, bytes]]:
    for at, root in enumerate(roots):
        for path in _files(root):
            try:
                yield shown_as(path, root, at), path.read_bytes()
            except OSError:
                yield shown_as(path, root, at), b""


def _digest(engine: str, roots: Sequence[Path], sources: Mapping[str, bytes]) -> str:
    """Changes with every spec, and with the digest of the engine."""
    seen = hashlib.sha256(engine.encode())
    for root in roots:
        seen.update(f"\n{root} {root.exists()}".encode())
        for path in _files(root):
            # Not when it was written: a check-out writes everything anew, and what is read below is what counts.
            seen.update(f"\n{path} {_size(path)}".encode())
    for overlooked, *_ in find_overlooked(roots):
        seen.update(f"\n{overlooked}".encode())
    for name, data in sorted(sources.items()):
        seen.update(f"\n{name} {len(data)} ".encode() + data)
    return seen.hexdigest()


def _digest_engine() -> str:
    """Changes with every part of the engine, with what is installed beside it, and with what can register a hook."""
    seen = hashlib.sha256(f"{FORMAT} {__version__} {sys.version}".encode())
    package, shipped = Path(__file__).parents[1], Path(shipped_folder())
    # The specs that are shipped inside the package are no part of it, nor are their prompts and pages.
    files = [*_find_below(package, ENGINE_SUFFIXES, shipped)]
    files += _find_below(shipped / "templates", (".j2",), shipped / PROMPTS, shipped / PAGE_TEMPLATES)
    for path in sorted(files):
        stat = path.stat()
        seen.update(f"\n{path} {stat.st_size} {stat.st_mtime_ns}".encode())
    # Libraries read pages and documents in examples.
    for folder in sys.path:
        if folder.endswith(("site-packages", "dist-packages")) and Path(folder).is_dir():
            seen.update(f"\n{folder} {Path(folder).stat().st_mtime_ns}".encode())
    for entry in entry_points(group=GROUP):
        seen.update(f"\n{entry.value} {entry.dist.version if entry.dist else ''}".encode())
    return seen.hexdigest()


def _find_below(folder: Path, suffixes: tuple[str, ...], *leave_out: Path) -> Iterator[Path]:
    """The files below a folder that end so, but for those below some others."""
    for above, inner, files in os.walk(folder):
        inner[:] = [one for one in inner if Path(above, one) not in leave_out]
        yield from (Path(above, one) for one in files if one.endswith(suffixes))


def _size(path: Path) -> int:
    """The bytes of a file, also of one that may not be read; -1 when it has just gone."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _stamp_path(roots: Sequence[Path], environ: Mapping[str, str]) -> Path:
    which = hashlib.sha256("\n".join(str(root.resolve()) for root in roots).encode()).hexdigest()[:12]
    return Path(cache_folder(environ)) / f"check-{which}.json"


def _memory_path(roots: Sequence[Path], environ: Mapping[str, str]) -> Path:
    return _stamp_path(roots[:1], environ).with_suffix(".files")


def _load_stamp(path: Path, digest: str) -> SpecVerdict | None:
    try:
        stamp = json.loads(path.read_bytes())
        if stamp["digest"] != digest:
            return None
        diagnostics = (Diagnostic(code, Place(*place), message, hint) for code, place, message, hint in stamp["found"])
        counts = {str(name): int(number) for name, number in stamp["counts"].items()}
        return SpecVerdict(tuple(diagnostics), counts, remembered=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _save_stamp(path: Path, digest: str, verdict: SpecVerdict) -> None:
    """Write what was found; where that fails the next check only takes as long as this one."""
    from specloom.core import write_whole

    found = [[one.code, astuple(one.place), one.message, one.hint] for one in verdict.diagnostics]
    stamp = {"digest": digest, "counts": dict(verdict.counts), "found": found}
    with contextlib.suppress(OSError):
        make_folder(path.parent)
        write_whole(path, json.dumps(stamp, ensure_ascii=False).encode())


# --- The verdict on one new file, before it is among the others -------------------------------------------------------


def judge_one(shown: str, data: bytes, model: Model) -> Report:
    """What `judge` would say about one new file, but for its marks, held against a model compiled without it."""
    report = Report()
    spec = parse_spec(shown, data, report)
    if spec is not None:
        _judge_spec(spec, model, report)
    return report


def _judge_spec(spec: Spec, model: Model, report: Report) -> None:
    """Compile and check a spec; of a capability nothing, which is held against its providers and has none yet."""
    from specloom import compiler

    from .coverage import check_with_coverage
    from .examples.run import compile_spec

    match spec.kind:
        case "provider" | "tool" | "resource":
            compiled = compile_spec(spec, model, compiler.symbols_of(model), report)
            if compiled is not None:
                check_with_coverage(spec, compiled, model, report)
        case "lens":
            compiler.compile_lens(spec, report)
        case "toolset":
            compiler.compile_toolset(spec, model.tools, model.tools, (), report)
        case "collection":
            collection = compiler.compile_collection(spec, report)
            if collection is not None:
                compiler.check_needs({collection.name: collection}, report)
                compiler.check_use({collection.name: collection}, model.tools.values(), report)
