"""The files of providers: which there are, their texts, and one written into a person's own layer and nowhere else."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from specloom.core import Fault, config_folder, dataclass, project_folder, spec_layers, write_whole
from specloom.specs import spec_files

FOLDER = "providers.d"
HEAD = 4096
"""Bytes of a file within which it says what it is."""


@dataclass(frozen=True, slots=True)
class ProviderFile:
    """One file: its text, what diagnostics call it, where a changed one is saved, and the digest of what was read."""

    name: str
    shown: str
    text: str
    target: str
    digest: str


def list_provider_files(environ: Mapping[str, str]) -> dict[str, tuple[Path, bool]]:
    """The file of each provider, of the last layer that has one, and whether that is a person's own."""
    files: dict[str, tuple[Path, bool]] = {}
    own = _own_layers(environ)
    for layer in spec_layers(environ):
        for path in spec_files(Path(layer), [FOLDER]) if Path(layer).is_dir() else []:
            try:
                with path.open("rb") as file:
                    if any(line.startswith(b"spec: provider/") for line in file.read(HEAD).splitlines()):
                        files[path.stem] = (path, Path(layer) in own)
            except OSError:
                continue
    return dict(sorted(files.items()))


def read_provider_file(environ: Mapping[str, str], name: str) -> ProviderFile:
    """The file of a provider; a `config` fault where there is none."""
    path, is_own = _find(environ, name)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Fault("config", f"{path} cannot be read: {error.strerror}") from None
    shown = path.as_posix() if is_own else f"{FOLDER}/{path.name}"
    text = data.decode("utf-8-sig", "replace")
    return ProviderFile(name, shown, text, str(_target(environ, name)), _digest(data))


def save_provider_file(environ: Mapping[str, str], name: str, text: str, digest: str) -> Path:
    """Write a provider into the own layer; a `config` fault where its file is no longer the one with this digest.

    What is shipped is left as it is: a file of the same name in an own layer takes its place.
    """
    if read_provider_file(environ, name).digest != digest:
        raise Fault("config", f"the file of {name} was changed meanwhile; load it again, and change it then")
    target = _target(environ, name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text.encode("utf-8", "replace"))
    except OSError as error:
        raise Fault("config", f"{target} cannot be written: {error.strerror}") from None
    return target


def _find(environ: Mapping[str, str], name: str) -> tuple[Path, bool]:
    files = list_provider_files(environ)
    if name not in files:
        raise Fault("config", f"there is no file of a provider {name!r}")
    return files[name]


def _own_layers(environ: Mapping[str, str]) -> list[Path]:
    """The layers that are a person's own: all but what is shipped, in whose place a project stands."""
    layers = [Path(layer) for layer in spec_layers(environ)]
    return layers if project_folder(environ) else layers[1:]


def _target(environ: Mapping[str, str], name: str) -> Path:
    """Where a provider is saved: over its own file, else into the first own layer."""
    path, is_own = _find(environ, name)
    layers = _own_layers(environ)
    layer = next((one for one in layers if is_own and path.is_relative_to(one)), None)
    layer = layer or (layers[0] if layers else Path(config_folder(environ)))
    target = path if is_own else layer / FOLDER / f"{name}.yaml"
    # A link may lead elsewhere, such as to what is shipped.
    if not target.resolve().is_relative_to(layer.resolve()):
        raise Fault("config", f"{target} leads out of your own layer, {layer}; nothing is saved there")
    return target


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
