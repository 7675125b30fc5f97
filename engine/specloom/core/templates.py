"""The templates that come with the package, filled by one engine; Jinja is imported when the first is asked for."""

from __future__ import annotations

from .paths import shipped_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def template_renderer(
    folder: str, filters: Mapping[str, Callable[..., object]]
) -> Callable[[str, Mapping[str, Any]], str]:
    """What fills the templates of a folder of `templates`: the text of a template's name and of what it may name.

    Nothing is escaped but by these filters. What a template names and is not there raises an UndefinedError.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - Markdown, JSON and YAML, never HTML
        loader=FileSystemLoader(f"{shipped_folder()}/templates/{folder}"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(filters)

    def render(name: str, facts: Mapping[str, Any]) -> str:
        return environment.get_template(name).render(facts)

    return render
