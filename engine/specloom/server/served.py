"""The model that is served: from its image if nothing changed since, else compiled anew and kept as an image."""

from __future__ import annotations

import os
import sys
import time

from specloom import __version__
from specloom.core import cache_folder, make_own_folder, project_folder, shipped_folder, spec_layers

from .catalogue import SHIPPED, listings, name_server, shipped_stamp, stamp_sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specloom.core import Diagnostic
    from specloom.model import Heads, Image, ListedModel, Model


class Served:
    """A model, the errors of what is left out of it, and the texts that they are shown with.

    `errors` keep everything from being served, `lost` only what a user's own files add.
    """

    __slots__ = ("errors", "lost", "model", "sources")

    def __init__(
        self,
        model: Model,
        errors: Sequence[Diagnostic] = (),
        lost: Sequence[Diagnostic] = (),
        sources: Mapping[str, str] | None = None,
    ) -> None:
        self.model = model
        self.errors = list(errors)
        self.lost = list(lost)
        self.sources = sources or {}


def load_served(environ: Mapping[str, str]) -> Served:
    """The model of the layers of an environment."""
    from specloom.model import load_model

    image = _take_opened(environ)
    stamp = "" if image is not None else stamp_everything(environ)
    image = image or open_image(environ, stamp)
    if image is None and _remake(environ, stamp):
        image = open_image(environ, stamp)
    if image is not None:
        return Served(load_model(image))
    from specloom.compiler import weave_served
    from specloom.specs import layer_roots

    model, library, report, lost = weave_served(layer_roots(environ))
    if not report.errors and not lost:
        save_model(model, environ, stamp)
    return Served(model, report.errors, lost, library.sources)


def open_listing(environ: Mapping[str, str]) -> ListedModel | None:
    """What lists of tools are made of, if there is an image that may be used; the model is not loaded for it."""
    image = open_image(environ, stamp_everything(environ))
    if image is None:
        return None
    from specloom.model import ListedModel

    return ListedModel(image)


def version_line(environ: Mapping[str, str]) -> str:
    """The version of the engine and the digest of the specs; of a project its own version first."""
    line = f"specloom {__version__}, specs {find_digest(environ)[:12]}"
    if not project_folder(environ):
        return line
    name, _, version = name_server(environ)
    return f"{name} {version}, {line}"


def load_heads(environ: Mapping[str, str]) -> tuple[Heads, list[Diagnostic]]:
    """What is known of every spec before any is loaded, and the errors of what is left out."""
    from specloom.model import HEADS

    image = _take_opened(environ) or open_image(environ, stamp_everything(environ))
    if image is not None:
        heads: Heads = image.load(HEADS)
        return heads, []
    served = load_served(environ)
    return served.model.heads, [*served.errors, *served.lost]


def find_digest(environ: Mapping[str, str]) -> str:
    """The digest of all specs: that of the image where nothing changed since, else of their texts."""
    image = open_image(environ, stamp_everything(environ))
    if image is not None:
        return image.digest
    from specloom.compiler import digest_sources
    from specloom.specs import layer_roots, read_texts

    return digest_sources(read_texts(layer_roots(environ)))


def stamp_everything(environ: Mapping[str, str]) -> str:
    """Changes when a spec or the package does, or when something was installed that may register more."""
    return "\n".join([stamp_sources(environ), *map(_stamp_folder, _installed())])


def _installed() -> list[str]:
    return [folder for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))]


def _stamp_folder(folder: str) -> str:
    try:
        return f"{folder} {os.stat(folder).st_mtime_ns}"
    except OSError:
        return folder


def model_path(environ: Mapping[str, str]) -> str:
    """The file of the model under these layers, for this interpreter."""
    from zlib import crc32  # only names the file; what is inside is compared whole

    layers = "\n".join((*spec_layers(environ), shipped_folder(), sys.version))
    return os.path.join(cache_folder(environ), f"model-{crc32(layers.encode()):08x}.image")


_opened: list[tuple[float, str, Image]] = []
"""The image that a command has opened, when and for which layers, until what it works on is loaded from it."""
UNCHANGED = 1.0
"""Seconds in which a command takes files that it has found unchanged to be so still."""


def open_tables(environ: Mapping[str, str]) -> None:
    """Let the tables of the engine come from the image, if there is one that may be used.

    It is kept for what the command loads next, which then need not look at every file again.
    """
    from specloom.core import keep_tables
    from specloom.model import TABLES

    image = open_image(environ, stamp_everything(environ))
    if image is not None:
        keep_tables(lambda name: image.load(TABLES, name))
        _opened[:] = [(time.monotonic(), model_path(environ), image)]


def _take_opened(environ: Mapping[str, str]) -> Image | None:
    """The image that was just opened for these layers; once, because who asks again may have changed something."""
    opened, _opened[:] = _opened[:], []
    return next(
        (image for at, path, image in opened if time.monotonic() - at < UNCHANGED and path == model_path(environ)),
        None,
    )


def forget_opened() -> None:
    """A command has ended; the next one looks for itself."""
    _opened.clear()


def open_model(environ: Mapping[str, str], stamp: str) -> Model | None:
    """The model of the image, if there is one that may be used and nothing changed since it was made."""
    from specloom.model import load_model

    image = open_image(environ, stamp)
    return load_model(image) if image is not None else None


def open_image(environ: Mapping[str, str], stamp: str) -> Image | None:
    """The image of the model, under the same conditions."""
    found = _open(model_path(environ), stamp)
    if found is not None or spec_layers(environ) != [shipped_folder()]:
        return found
    path = shipped_model()
    stamp = shipped_stamp(path)
    return _open(path, stamp) if stamp and not announced_elsewhere() else None


def _open(path: str, stamp: str) -> Image | None:
    from specloom.model import Image, ImageError

    try:
        image = Image(path)
    except (OSError, ImageError):
        return None
    return image if image.fingerprint == stamp else None


def shipped_model() -> str:
    """The file of the model that comes with the package for this interpreter; a checkout has none."""
    return os.path.join(shipped_folder(), SHIPPED, f"model-{sys.implementation.cache_tag}.image")


def announced_elsewhere() -> bool:
    """Whether another package registers something with the engine, of which an image that was shipped knows nothing."""
    for folder in _installed():
        try:
            inside = [one.path for one in os.scandir(folder) if one.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for path in inside:
            if os.path.basename(path).startswith("specloom-"):
                continue
            try:
                with open(os.path.join(path, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
                    if "[specloom.hooks]" in file.read():
                        return True
            except OSError:
                continue
    return False


def _remake(environ: Mapping[str, str], stamp: str) -> bool:
    """Whether the image is as it has to be, now that one provider was compiled anew, which is all that had changed."""
    from specloom.model import Image, ImageError

    try:
        image = Image(model_path(environ))
        before, now = ({line.rsplit(" ", 2)[0]: line for line in one.split("\n")} for one in (image.fingerprint, stamp))
        changed = [path for path, line in now.items() if before.get(path) != line]
        if before.keys() != now.keys() or len(changed) != 1 or not changed[0].endswith(".yaml"):
            return False
        return _remake_with(image, changed[0], environ, stamp)
    except (OSError, ImageError):
        return False


def _remake_with(image: Image, path: str, environ: Mapping[str, str], stamp: str) -> bool:
    """The same for the file that changed."""
    from pathlib import Path

    from specloom.compiler import digest_sources, remake_image
    from specloom.core import Report, write_whole
    from specloom.specs import layer_roots, parse_spec, read_texts, shown_as

    roots = layer_roots(environ)
    at = next((at for at, root in enumerate(roots) if Path(path).is_relative_to(root / "providers.d")), None)
    if at is None:
        return False
    shown = shown_as(Path(path), roots[at], at)
    texts, report = read_texts(roots), Report()
    spec = parse_spec(shown, Path(path).read_bytes(), report, skip=frozenset({"examples"}))
    if spec is None or report.errors or spec.kind != "provider" or texts.get(shown) != spec.source.text:
        return False
    data = remake_image(image, spec, digest_sources(texts), stamp)
    if data is not None:
        write_whole(Path(model_path(environ)), data)
    return data is not None


def save_model(model: Model, environ: Mapping[str, str], stamp: str) -> bool:
    """Write the image; False where that is not possible, which only costs time at the next start."""
    from pathlib import Path

    from specloom.compiler import make_image
    from specloom.core import write_whole
    from specloom.specs import listed_prompt, load_prompts

    try:
        prompts = [listed_prompt(one) for one in load_prompts(spec_layers(environ)).values()]
    except ValueError:
        return False  # whoever lists them says what is wrong
    try:
        make_own_folder(cache_folder(environ), environ)
        write_whole(Path(model_path(environ)), make_image(model, stamp, prompts, listings(model)))
    except OSError:
        return False
    return True
