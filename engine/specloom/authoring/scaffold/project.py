"""The start of a project: a package with specs of its own, which serves them under its own name."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping

from specloom import __version__
from specloom.core import NAME, load_table
from specloom.specs import NAME_RULE, is_project_name

from .common import ScaffoldError, draft_file, to_title

_FILES: Mapping[str, str] = load_table(__file__, "project_files.yaml")
"""Each file by its path in the project, with the template that makes it."""
_RESERVED = frozenset({NAME, "all", "test", "tests", "src"})
_LONGEST = 32
"""Letters of a name at most, of which the names of tools are made."""


def draft_project(name: str) -> dict[str, str]:
    """The texts of a new project by their paths in its folder; ScaffoldError where it cannot be called so."""
    if not is_project_name(name) or len(name) > _LONGEST:
        rule = NAME_RULE.replace("40", str(_LONGEST))
        raise ScaffoldError(f"{name!r} is not a name of a project; use {rule}")
    package = name.replace("-", "_")
    if package in _RESERVED or package in sys.stdlib_module_names or _is_keyword(package) or _is_installed(package):
        raise ScaffoldError(f"a project cannot be called {name!r}, which Python or specloom use; choose another name")
    facts = {
        "name": name,
        "package": package,
        "variable": package.upper(),
        "title": to_title(name),
        "version": __version__,
        # Another project may have the same name: what users keep of the two lies apart.
        "id": f"{name}-{secrets.token_hex(3)}",
    }
    return {
        path.format(name=name, package=package): draft_file(f"project/{template}.j2", facts)
        for path, template in _FILES.items()
    }


def _is_installed(package: str) -> bool:
    """Whether a module of this name is here, such as one that specloom itself needs: the project's would hide it."""
    import importlib.util

    found = importlib.util.find_spec(package)
    return found is not None and found.origin is not None


def _is_keyword(word: str) -> bool:
    import keyword

    return keyword.iskeyword(word) or keyword.issoftkeyword(word)
