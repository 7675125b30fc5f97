"""Lazy imports: what a package offers (PEP 562) and modules, imported when a name of them is first asked for."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def exports(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package that offers names of its modules: each module with its names, blank between them.

    A start imports only what it uses, however much a room offers. A name is looked up once and then stands in the
    package. AttributeError for a name that the package does not offer.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(import_module(package), name, value)
        return value

    return find


class LateModule:
    """A module that is imported when something of it is first asked for; for `asyncio`, which a dry run needs not."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> object:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # from now on it is found without this function
        return value
