"""The verdict on one new file, before it is among the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .diagnostics import Report
from .model import Model
from .names import Spec, parse_spec


def judge_one(shown: str, data: bytes, model: Model) -> Report:
    """What `judge` would say about one new file, held against a model that was compiled without it."""
    report = Report()
    spec = parse_spec(shown, data, report)
    if spec is not None:
        _JUDGES[spec.kind](spec, model, report)
    return report


def _judge_provider(spec: Spec, model: Model, report: Report) -> None:
    from .coverage_providers import cover_provider
    from .examples_providers import check_provider
    from .proofs import check_tables
    from .provider import compile_provider

    provider = compile_provider(spec, model.capabilities, report)
    if provider is None:
        return
    check_tables(spec, provider, model.capabilities, report)
    check_provider(spec, provider, report)
    if not report.errors:
        cover_provider(spec, provider, report)


def _judge_tool(spec: Spec, model: Model, report: Report) -> None:
    from .coverage_tools import cover_tool
    from .examples_tools import check_tool
    from .plan import compile_tool
    from .surroundings import surroundings_of

    tool = compile_tool(spec, surroundings_of(model), report)
    if tool is None:
        return
    check_tool(spec, tool, model, report)
    if not report.errors:
        cover_tool(spec, tool, model, report)


def _judge_lens(spec: Spec, _model: Model, report: Report) -> None:
    from .capability import compile_lens

    compile_lens(spec, report)


def _judge_toolset(spec: Spec, model: Model, report: Report) -> None:
    from .toolset import compile_toolset

    compile_toolset(spec, model.tools, model.tools, (), report)


def _judge_collection(spec: Spec, _model: Model, report: Report) -> None:
    from .collection import check_needs, check_use, compile_collection

    found = compile_collection(spec, report)
    if found is not None:
        check_needs({found.name: found}, report)
        check_use({found.name: found}, report)


def _judge_capability(spec: Spec, model: Model, report: Report) -> None:
    """A capability is held against its providers, of which a new one has none."""


_JUDGES: Mapping[str, Callable[[Spec, Model, Report], None]] = {
    "provider": _judge_provider,
    "tool": _judge_tool,
    "lens": _judge_lens,
    "toolset": _judge_toolset,
    "collection": _judge_collection,
    "capability": _judge_capability,
}
