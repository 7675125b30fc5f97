"""Finds the spec files of every layer and knows by name what each of them is."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from types import MappingProxyType

from specloom.core import (
    PAGE_TEMPLATES,
    PROMPT_SUFFIX,
    PROMPTS,
    VIEW_SUFFIX,
    VIEWS,
    PageTemplate,
    Place,
    Report,
    ViewTemplate,
    dataclass,
    did_you_mean,
    shipped_folder,
    spec_layers,
)

from .grammar import GRAMMARS, check
from .yaml import MAX_BYTES, Map, SourceText, YamlScalar, decode_source, find_marks, parse_source, to_plain

Parse = Callable[[str, bytes, Report], "Spec | None"]
FOLDERS = ("providers.d", "tools.d", "lenses", "collections.d", "resources.d")


@dataclass(frozen=True, slots=True)
class Spec:
    """One file that passed its grammar: its kind, its name, its tree, and the folder that groups it."""

    kind: str
    name: str
    root: Map
    source: SourceText
    group: str = ""

    @property
    def place(self) -> Place:
        """Where the spec's name stands."""
        node = self.root.get("name")
        return node.place if node else self.root.place

    @property
    def digest(self) -> str:
        """Changes when the spec's text does, examples included."""
        return hashlib.sha256(self.source.text.encode()).hexdigest()[:16]


@dataclass(slots=True)
class Library:
    """All specs and the names of the prompts of all layers; a later layer replaces what has the same kind and name."""

    specs: dict[tuple[str, str], Spec] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    prompts: set[str] = field(default_factory=set)
    templates: dict[str, PageTemplate] = field(default_factory=dict)
    """What makes Markdown of pages, by name."""
    views: dict[str, ViewTemplate] = field(default_factory=dict)
    """What shows answers, by name."""
    unread: set[str] = field(default_factory=set)
    """The stems of files that are no spec yet, or one of another name; what is wrong with them is reported."""

    def of(self, kind: str) -> dict[str, Spec]:
        """The specs of one kind, by name, sorted."""
        return {name: spec for (one, name), spec in sorted(self.specs.items()) if one == kind}


def shipped_root() -> Path:
    """The folder of the specs that come with the package."""
    return Path(shipped_folder())


def layer_roots(environ: Mapping[str, str]) -> list[Path]:
    """The folders of specs, the shipped ones first; a later one replaces what has the same name."""
    return [Path(folder) for folder in spec_layers(environ)]


def spec_files(root: Path, folders: Sequence[str] = FOLDERS) -> list[Path]:
    """Every spec file under a layer's root, sorted; a root that is a file is the only one."""
    if root.is_file():
        return [root]
    return sorted(path for folder in folders for path in (root / folder).rglob("*.yaml") if path.is_file())


def prompt_files(root: Path) -> list[Path]:
    """Every prompt under a layer's root, sorted."""
    return sorted(path for path in (root / PROMPTS).glob(f"*{PROMPT_SUFFIX}") if path.is_file())


def template_files(root: Path) -> list[Path]:
    """Every template of pages under a layer's root, sorted."""
    return sorted(path for path in (root / PAGE_TEMPLATES).glob(f"*{PROMPT_SUFFIX}") if path.is_file())


def view_files(root: Path) -> list[Path]:
    """Every template of views under a layer's root, sorted."""
    return sorted(path for path in (root / VIEWS).glob(f"*{VIEW_SUFFIX}") if path.is_file())


def load_library(
    roots: Sequence[Path],
    report: Report,
    *,
    skip: frozenset[str] = frozenset(),
    folders: Sequence[str] = FOLDERS,
    without: Collection[str] = (),
    parse: Parse | None = None,
) -> Library:
    """Read these folders of every layer. What is not a spec is reported and left out; the rest is to be checked.

    Files and folders `without` which to load are passed over, by the names under which they are shown. `parse` may
    give a spec that was parsed before, for the name and the bytes of a file; else that is `parse_spec`.
    """
    if parse is None:

        def parse(shown: str, data: bytes, report: Report) -> Spec | None:
            return parse_spec(shown, data, report, skip=skip)

    library = Library()
    for at, root in enumerate(roots):
        if str(root) in without:
            continue
        if not root.exists():
            report.add("E001", Place(str(root)), "this folder of specs does not exist", "see SPECLOOM_PATH")
            continue
        files = [(path, shown_as(path, root, at)) for path in spec_files(root, folders)]
        _load_layer(library, [(path, shown) for path, shown in files if shown not in without], report, parse)
        for path in template_files(root):
            shown = shown_as(path, root, at)
            if shown in without:
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            library.sources[shown] = text
            library.templates[path.name.removesuffix(PROMPT_SUFFIX)] = PageTemplate(shown, text)
        _load_views(library, [(path, shown_as(path, root, at)) for path in view_files(root)], report, without)
        library.prompts.update(path.name.removesuffix(PROMPT_SUFFIX) for path in prompt_files(root))
    if shipped_root() not in roots:
        _lend_views(library, report)
    return library


def read_texts(roots: Sequence[Path]) -> dict[str, str]:
    """The texts of all specs and templates of every layer by the names under which they are shown; none is checked."""
    found = {}
    for at, root in enumerate(roots):
        for path in spec_files(root):
            with contextlib.suppress(OSError), path.open("rb") as file:
                found[shown_as(path, root, at)] = decode_source(file.read(MAX_BYTES + 1))
        for path in (*template_files(root), *view_files(root)):
            found[shown_as(path, root, at)] = path.read_text(encoding="utf-8", errors="replace")
    return found


def shown_as(path: Path, root: Path, at: int) -> str:
    """The name under which diagnostics show a file of the layer at this place.

    It is the place in the layer for the first one, which is shipped, and the whole path for those that a user adds: so
    one sees whose it is, and two layers may have a file of the same name.
    """
    if at:
        return path.absolute().as_posix()
    return path.relative_to(root if root.is_dir() else root.parent).as_posix()


def _load_views(library: Library, files: Iterable[tuple[Path, str]], report: Report, without: Collection[str]) -> None:
    """Add the templates of views of one layer, each with the name under which it is shown."""
    from .views import read_view

    for path, shown in files:
        if shown in without:
            continue
        data, name = path.read_bytes(), path.name.removesuffix(VIEW_SUFFIX)
        library.sources[shown] = data.decode("utf-8", "replace")
        view = read_view(name, shown, data, report)
        if view is None:
            library.unread.add(name)
        else:
            library.views[name] = view


def _lend_views(library: Library, report: Report) -> None:
    """Add the package's templates of views where a tool names one that no layer has.

    They draw and hold nothing of the shipped catalogue, so a project has them too.
    """
    named = {to_plain(view.get("template")) for spec in library.of("tool").values() if (view := _view_of(spec))}
    if named - library.views.keys() - library.unread:
        lent = [(path, path.as_posix()) for path in view_files(shipped_root()) if path.stem not in library.views]
        _load_views(library, lent, report, ())


def _view_of(spec: Spec) -> Map | None:
    view = spec.root.get("view")
    return view if isinstance(view, Map) else None


def _load_layer(library: Library, files: Iterable[tuple[Path, str]], report: Report, parse: Parse) -> None:
    """Add the files of one layer, each with the name under which it is shown."""
    layer: dict[tuple[str, str], Spec] = {}
    for path, shown in files:
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            report.add("E001", Place(shown), f"the file cannot be read: {error.strerror}")
            continue
        library.sources[shown] = decode_source(data)
        spec = parse(shown, data, report)
        if spec is None or spec.name != path.stem:
            library.unread.add(path.stem)
        if spec is None:
            continue
        key = (spec.kind, spec.name)
        if key in layer:
            report.add(
                "E011", spec.place, f"{spec.kind} {spec.name!r} is defined twice", f"also in {layer[key].source.file}"
            )
        layer[key] = spec
        _keep_consent(library.specs.get(key), spec, report)
    library.specs.update(layer)


def _keep_consent(earlier: Spec | None, spec: Spec, report: Report) -> None:
    """A file that replaces a collection asks for the consent that the earlier one asks for (E125)."""
    consent = earlier.root.get("consent") if earlier and spec.kind == "collection" else None
    if isinstance(consent, YamlScalar) and to_plain(spec.root.get("consent")) != consent.value:
        message = f"the collection {spec.name!r} would be kept without the consent that it was declared with"
        report.add("E125", spec.place, message, f"say `consent: {consent.value}`")


def parse_spec(
    shown: str, data: bytes, report: Report, library: Library | None = None, *, skip: frozenset[str] = frozenset()
) -> Spec | None:
    """One file as a spec, or None when it has problems of syntax or shape, which are then reported."""
    source = parse_source(shown, data, report, skip=skip)
    if library is not None:
        library.sources[shown] = source.text
    if source.root is None:
        return None
    kind = _kind(source.root, report)
    if kind is None or not check(source.root, GRAMMARS[kind], report):
        return None
    node = source.root.get("name")
    assert isinstance(node, YamlScalar)
    path = Path(shown)
    if path.stem != str(node.value):
        report.add(
            "E009", node.place, f"the file is called {path.stem!r} and its name is {node.value!r}", "rename one of them"
        )
    inside = path.as_posix().rpartition("tools.d/")[2].split("/") if "tools.d" in path.parts else []
    group = inside[0] if len(inside) > 1 else ""
    return Spec(kind, str(node.value), source.root, source, group)


def check_marks(specs: Iterable[Spec], report: Report) -> None:
    """Report what the start of each provider has left to its author (E405); in other kinds that is only words."""
    for spec in specs:
        for place, what in find_marks(spec.source) if spec.kind == "provider" else ():
            report.add("E405", place, f"still to be decided: {what}", "settle it, then take the comment away")


def _kind(root: Map, report: Report) -> str | None:
    first = next(iter(root), None)
    known = [f"{kind}/1" for kind in GRAMMARS]
    if first is None or first.key != "spec" or not isinstance(first.value, YamlScalar):
        report.add(
            "E010", first.place if first else root.place, "the first key must be `spec`", f"one of {', '.join(known)}"
        )
        return None
    if first.value.value not in known:
        word = str(first.value.value)
        hint = did_you_mean(word, known)
        report.add("E010", first.value.place, f"{word!r} is not a kind of spec that this version knows", hint)
        return None
    return str(first.value.value).partition("/")[0]


# --- Finds what lies in a layer of specs like a spec and is not read, so that nobody waits for it to work -------------


_ENDINGS = (".yml", ".yaml")
HOMES: Mapping[str, str] = MappingProxyType(
    {
        "provider": "providers.d",
        "capability": "providers.d",
        "tool": "tools.d",
        "toolset": "tools.d",
        "lens": "lenses",
        "collection": "collections.d",
        "resource": "resources.d",
    }
)
"""The folder of a layer in which the specs of each kind are looked for."""
_LIKE = 0.7
"""How alike the name of a folder is to one that is read, from 0 to 1, before it is taken for a slip."""


def check_overlooked(roots: Sequence[Path], report: Report) -> None:
    """Warn of files and folders of these layers whose names say that they are specs, and that are not read (W001)."""
    for path, shown, why, hint in find_overlooked(roots):
        report.add("W001", Place(shown), f"this {'folder' if path.is_dir() else 'file'} is not read: {why}", hint)


def check_misplaced(roots: Sequence[Path], library: Library, report: Report) -> None:
    """Warn of specs in a folder of another kind, and of tools that are in no toolset (W001)."""
    specs = {spec.source.file: spec for spec in library.specs.values()}
    for at, root in enumerate(roots):
        for path in spec_files(root) if root.is_dir() else ():
            spec = specs.get(shown_as(path, root, at))
            if spec is None:
                continue
            home = HOMES[spec.kind]
            if path.relative_to(root).parts[0] != home:
                message = f"a {spec.kind} lies in {home}/, and may be missed elsewhere"
                report.add("W001", spec.place, message, f"move it to {home}/")
            elif spec.kind == "tool" and not spec.group and "toolsets" not in spec.root:
                hint = f"move it to {home}/TOOLSET/, the folder of its toolset"
                report.add("W001", spec.place, "this tool is in no toolset, so no client is served it", hint)


def find_overlooked(roots: Sequence[Path]) -> list[tuple[Path, str, str, str]]:
    """Each of them with the name under which it is shown, the reason, and what to do; sorted within its layer."""
    found = []
    for at, root in enumerate(roots):
        if root.is_dir():
            named = [*_files(root), *(_folders(root) if at else ())]
            found += [(path, shown_as(path, root, at), why, hint) for path, why, hint in sorted(named)]
    return found


def _files(root: Path) -> Iterator[tuple[Path, str, str]]:
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix.lower() not in _ENDINGS or path.is_dir():
                continue
            if path.suffix != ".yaml":
                yield path, "a spec ends in .yaml", f"call it {path.stem}.yaml"
            elif not path.is_file():
                yield path, "it is a link that leads nowhere", "mend or remove it"


def _folders(root: Path) -> Iterator[tuple[Path, str, str]]:
    """A layer without the folders of one, and folders with a slip in the name; the shipped layer has others beside."""
    known = ", ".join(FOLDERS)
    has_specs = root.name in FOLDERS or any(root.glob("*.yaml"))
    if has_specs and not any((root / folder).is_dir() for folder in FOLDERS):
        hint = "name the folder above it" if root.name in FOLDERS else f"put its files into one of {known}"
        yield root, f"the specs of a layer are in its folders {known}", hint
    for path in root.iterdir():
        like = difflib.get_close_matches(path.name, FOLDERS, n=1, cutoff=_LIKE)
        if like and path.name not in FOLDERS and path.is_dir() and any(path.rglob("*.yaml")):
            yield path, "no folder of specs is called that", f"call it {like[0]}"
