"""The spec author's workshop: check, examples, coverage, mutation, scaffolds, explain, generated documents.

Imports `runtime`, `storage`, `compiler`, `specs`, `model` and `language`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .check import find_verdict, judge_one, stamp_files, widen
    from .code import code_lines
    from .explain import explanation_lines
    from .scaffold.common import ScaffoldError, default_folder, folder_of, folder_within
    from .scaffold.declarations import draft_capability, draft_collection, draft_lens, draft_resource, draft_toolset
    from .scaffold.project import draft_project
    from .scaffold.openapi.draft import draft_from_openapi
    from .scaffold.provider import draft_provider
    from .scaffold.tool import draft_tool
    from .try_live import attempt, attempt_lines, example_of, find_operation, to_arguments, to_yaml
    from .try_live import write_recordings as write_recordings

__getattr__ = exports(
    __name__,
    {
        "check": "find_verdict judge_one stamp_files widen",
        "code": "code_lines",
        "explain": "explanation_lines",
        "scaffold.common": "ScaffoldError default_folder folder_of folder_within",
        "scaffold.declarations": "draft_capability draft_collection draft_lens draft_resource draft_toolset",
        "scaffold.project": "draft_project",
        "scaffold.openapi.draft": "draft_from_openapi",
        "scaffold.provider": "draft_provider",
        "scaffold.tool": "draft_tool",
        "try_live": "attempt attempt_lines example_of find_operation to_arguments to_yaml write_recordings",
    },
)
