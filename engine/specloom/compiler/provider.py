"""Compiles provider files: the service, and every operation as checked steps that a driver can run."""

from __future__ import annotations

from collections.abc import Mapping

from specloom.core import Report
from specloom.language import NUMBER
from specloom.model import Capability, Operation, Provider
from specloom.specs import Map, Spec, to_plain

from .operation import compile_operation
from .service import compile_service, compile_settings, compile_tables, settings_shape
from .values import Scope, entries_of, needed_definitions, whole


def compile_provider(spec: Spec, capabilities: Mapping[str, Capability], report: Report) -> Provider | None:
    """A provider ready to run, or None when something in it is wrong and was reported."""
    before = len(report.found)
    root = spec.root
    settings = compile_settings(root.get("config"))
    tables = compile_tables(root.get("tables"))
    scope = Scope(whole({"config": settings_shape(settings), "now": NUMBER}), tables, report)
    service_node, operations_node = root.get("service"), root.get("operations")
    assert isinstance(service_node, Map)
    assert isinstance(operations_node, Map)
    service = compile_service(service_node, scope, spec.place, settings)
    shared = entries_of(root.get("values"))
    used = {one.key for one in needed_definitions(shared, operations_node)}
    for one in shared:
        if one.key not in used:
            report.add("W307", one.place, f"no operation uses values.{one.key}")
    operations: dict[str, Operation] = {}
    for entry in operations_node:
        compiled = compile_operation(spec.name, entry, scope, capabilities, shared)
        if compiled:
            operations[entry.key] = compiled
    if any(one.is_error for one in report.found[before:]) or len(operations) < len(operations_node.entries):
        return None
    assert service is not None
    plain = to_plain(root)
    return Provider(
        spec.name,
        plain["title"],
        spec.place,
        spec.digest,
        service,
        settings,
        operations,
        tables,
        plain.get("homepage", ""),
        " ".join(plain.get("notes", "").split()),
    )
