"""Files become checked trees: YAML with places, grammar, the library of layers, JSON Schemas for editors.

Imports `language`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .grammar import (
        GRAMMARS, NAME, STEM, Anything, Either, Flag, Grammar, Items, Named, Number, RecordRule, Rule, RuleReference,
        Text, check,
    )
    from .json_schema import editor_schemas
    from .library import (
        FOLDERS, Library, Spec, check_marks, check_misplaced, check_overlooked, find_overlooked, layer_roots,
        load_library, parse_spec, prompt_files, read_texts, shipped_root, shown_as, spec_files,
        template_files, view_files,
    )
    from .project import NAME_RULE, Project, is_project_name, read_project
    from .prompts import (
        Prompt, PromptFile, listed_prompt, load_prompts, read_prompt, read_prompts, render_prompt,
    )
    from .views import read_view
    from .yaml import (
        Listing, Map, Node, SourceText, YamlEntry, YamlScalar, decode_source, find_marks, plain_value, texts_of,
        to_plain,
    )

__getattr__ = exports(
    __name__,
    {
        "grammar": (
            "GRAMMARS NAME STEM Anything Either Flag Grammar Items Named Number RecordRule Rule RuleReference "
            "Text check"
        ),
        "json_schema": "editor_schemas",
        "library": (
            "FOLDERS Library Spec check_marks check_misplaced check_overlooked find_overlooked layer_roots "
            "load_library parse_spec prompt_files read_texts shipped_root shown_as spec_files template_files "
            "view_files"
        ),
        "project": "NAME_RULE Project is_project_name read_project",
        "prompts": "Prompt PromptFile listed_prompt load_prompts read_prompt read_prompts render_prompt",
        "views": "read_view",
        "yaml": (
            "Listing Map Node SourceText YamlEntry YamlScalar decode_source find_marks plain_value texts_of to_plain"
        ),
    },
)
