"""The contract of all tools of the toolset, as one table over their specs: inputs, answers, hints, refusals."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jsonschema import Draft7Validator

from specloom.core import count_tokens
from tests.support.paper_store import World, model

DOI = "10.1234/otters"
TOOLS = {name: tool for name, tool in model().tools.items() if name.startswith("doiget_")}

REF = {"type": "string", "minLength": 7, "maxLength": 256, "required": True}
ENTRY_REF = {**REF, "minLength": 2}
"""Tools of the store take cite keys as well, which may be shorter."""
FLAG = {"type": "boolean", "default": False}
TEXTS = {"type": "array"}
REFS = {**TEXTS, "required": True}
LIMIT = {"type": "integer", "minimum": 0, "default": 50}
OFFSET = {"type": "integer", "minimum": 0, "default": 0}
PART = {"total", "next_offset"}
"""Of lists that may be longer than what is told of them, which go on with `offset`."""
CANDIDATES = {"type": "integer", "minimum": 0, "maximum": 255, "default": 5}
YEAR = {"type": "integer", "minimum": 1000, "maximum": 9999}
NAME = {"type": "string", "maxLength": 200}
CHARACTERS = {"type": "integer", "minimum": 1}
QUERY = {"type": "string", "minLength": 1, "maxLength": 512, "required": True}

BUDGET = {"type": "integer"}
"""What a tool takes beside its contract: how long its text may be."""
UNBOUNDED = {"health", "capability_profile", "paper_pdf_path", "link", "tag", "annotate"}
"""Their texts are a few lines."""

INPUTS: dict[str, dict[str, dict[str, Any]]] = {
    "doiget_resolve_paper": {"ref": REF, "include_oa_location": FLAG},
    "doiget_fetch_paper": {"ref": REF, "dry_run": FLAG, "force": FLAG},
    "doiget_metadata_only": {"ref": REF, "dry_run": FLAG, "include_oa_location": FLAG},
    "doiget_batch_fetch": {"refs": REFS, "dry_run": FLAG, "force": FLAG},
    "doiget_info": {"ref": ENTRY_REF},
    "doiget_search_local": {"query": QUERY, "limit": LIMIT, "offset": OFFSET},
    "doiget_list_recent": {"limit": LIMIT, "offset": OFFSET},
    "doiget_paper_pdf_path": {"ref": ENTRY_REF},
    "doiget_capability_profile": {},
    "doiget_health": {},
    "doiget_expand_citation_graph": {
        "ref": REF,
        "depth": {"type": "integer", "minimum": 0, "default": 3},
        "total": {"type": "integer", "minimum": 1, "default": 100},
        "per_paper": {"type": "integer", "minimum": 1, "default": 20},
    },
    "doiget_bibtex_export": {"refs": REFS},
    "doiget_csl_export": {"refs": REFS},
    "doiget_paper_search": {
        "query": QUERY,
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 25},
        "from_year": YEAR,
        "to_year": YEAR,
        "oa_only": FLAG,
        "min_citations": {"type": "integer", "minimum": 0},
        "min_fwci": {"type": "number", "minimum": 0},
        "min_percentile": {"type": "integer", "minimum": 0, "maximum": 100},
        "author": NAME,
        "venue": NAME,
        "publisher": NAME,
        "sort": {"type": "string", "enum": ["relevance"], "default": "relevance"},
        "cursor": {"type": "string", "maxLength": 2000},
    },
    "doiget_paper_text": {"ref": REF, "max_chars": CHARACTERS},
    "doiget_paper_tex_source": {"ref": REF, "max_chars": CHARACTERS},
    "doiget_link": {"ref": REF},
    "doiget_resolve_citation": {"query": {**QUERY, "maxLength": 2000}, "limit": CANDIDATES},
    "doiget_batch_resolve_citations": {"queries": REFS, "limit": CANDIDATES},
    "doiget_batch_from_bibliography": {
        "path": {"type": "string", "minLength": 1, "maxLength": 4096, "required": True},
        "format": {"type": "string", "maxLength": 20, "default": "auto"},
        "strict": FLAG,
        "force": FLAG,
    },
    "doiget_tag": {
        "ref": ENTRY_REF,
        "add": TEXTS,
        "remove": TEXTS,
        "collection_add": TEXTS,
        "collection_remove": TEXTS,
    },
    "doiget_annotate": {"ref": ENTRY_REF, "text": {"type": "string", "maxLength": 20000}, "clear": FLAG},
}

PLAN = {"dry_run", "plan", "rate_limit_budget"}
IDENTITY = {"source", "resolver_profile", "license", "schema_version", "oa_status"}
QUALITY = {"metadata_quality", "repaired_fields"}
TEXT = {"arxiv_id", "char_count", "truncated", "retrieved_from"}

ANSWERS: dict[str, set[str]] = {
    "doiget_resolve_paper": {"ref", "oa_url", "metadata", *IDENTITY, *QUALITY},
    "doiget_fetch_paper": {
        *("ref", "path", "size_bytes", "pdf", "attempts", "title", "authors", "year"),
        *IDENTITY,
        *QUALITY,
        *PLAN,
    },
    "doiget_metadata_only": {"ref", "oa_url", "metadata", *IDENTITY, *QUALITY, *PLAN},
    "doiget_batch_fetch": {"results", "dry_run", "plans"},
    "doiget_info": {"ref", "safekey", "metadata"},
    "doiget_search_local": {
        *("ref", "scope", "query", "count", "results", "corrected", "partial", "unread_pdfs"),
        *PART,
    },
    "doiget_list_recent": {"ref", "count", "entries", *PART},
    "doiget_paper_pdf_path": {"ref", "safekey", "path", "pdf_exists", "origin", "license"},
    "doiget_capability_profile": {
        *("ref", "oa_enabled", "metadata_sources", "rate_limit_per_sec", "tier_1", "tier_2", "tier_3"),
        *("tdm_enabled", "tdm_elsevier", "tdm_aps", "tdm_springer", "tdm_ieee"),
    },
    "doiget_health": {"ref", "version", "schema_version", "store_writable", "build"},
    "doiget_expand_citation_graph": {"ref", "seed_work_id", "nodes", "edges", "truncated", "total_visited"},
    "doiget_bibtex_export": {"entries"},
    "doiget_csl_export": {"entries"},
    "doiget_paper_search": {"ref", "scope", "query", "total_results", "count", "results", "hint", "next_cursor"},
    "doiget_paper_text": {"ref", "source", "title", "sections", *TEXT},
    "doiget_paper_tex_source": {"ref", "main_file", "tex_source", *TEXT},
    "doiget_link": {"ref", "doi", "arxiv", "openalex_id", "title"},
    "doiget_resolve_citation": {"ref", "query", "candidates"},
    "doiget_batch_resolve_citations": {"results"},
    "doiget_batch_from_bibliography": {"summary", "results"},
    "doiget_tag": {"ref", "tags", "collections"},
    "doiget_annotate": {"ref", "annotation"},
}
"""What an answer may have beside `ok` and `error`."""

READING = {
    *("doiget_health", "doiget_capability_profile", "doiget_info", "doiget_search_local", "doiget_list_recent"),
    *("doiget_paper_pdf_path", "doiget_bibtex_export", "doiget_csl_export"),
}
ASKING = {
    *("doiget_paper_text", "doiget_paper_tex_source", "doiget_resolve_citation", "doiget_batch_resolve_citations"),
}
"""They write nothing, and the same call may be told something else tomorrow."""
OWNING = {"doiget_tag", "doiget_annotate"}

DRY = {"doiget_fetch_paper", "doiget_metadata_only", "doiget_batch_fetch"}
SECTIONS = ["WHEN TO USE", "INPUTS", "OUTPUTS", "COSTS", "SIDE EFFECTS", "LIMITS"]
NO_ECHO = {name for name, tool in TOOLS.items() if "batch" in name or "export" in name} | OWNING
"""Failed calls of these have no `ref`."""


def least(name: str) -> dict[str, Any]:
    """Arguments that a tool takes."""
    samples: dict[str, Any] = {"ref": DOI, "refs": [DOI], "query": "otters", "queries": ["otters"], "path": "/nowhere"}
    return {key: samples[key] for key, said in INPUTS[name].items() if said.get("required")}


def test_the_toolset_has_the_tools_of_the_contract_and_is_one_of_its_own() -> None:
    assert set(TOOLS) == set(INPUTS) == set(ANSWERS)
    assert len(TOOLS) == 22
    assert all(tool.toolsets == ("papers",) for tool in TOOLS.values())
    assert [tool.name for tool in model().tools.values() if "papers" in tool.toolsets and tool.name not in TOOLS] == []


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_takes_what_the_contract_says_and_nothing_else(name: str) -> None:
    schema = TOOLS[name].input_schema
    needed = set(schema.get("required", ()))
    published = {
        key: {word: value for word, value in said.items() if word not in {"description", "pattern", "items"}}
        | ({"required": True} if key in needed else {})
        for key, said in schema["properties"].items()
    }

    budget = published.pop("max_tokens", None)

    assert published == INPUTS[name]
    assert budget == ({**BUDGET, "default": 6000} if TOOLS[name].budget else None)
    assert schema["additionalProperties"] is False
    assert all(said["description"] for said in schema["properties"].values())


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_the_output_schema_has_every_key_of_the_contract(name: str) -> None:
    schema = TOOLS[name].output_schema

    assert set(schema["properties"]) == ANSWERS[name] | {"ok", "error"}
    assert schema["required"] == ["ok"]
    assert set(schema["properties"]["error"]["required"]) == {"code", "message", "disposition"}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_description_has_its_six_sections_in_order(name: str) -> None:
    lines = TOOLS[name].description.splitlines()

    assert [line.partition(":")[0] for line in lines] == SECTIONS
    assert all(line.partition(": ")[2].strip() for line in lines)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_input_and_every_key_of_the_answer_is_described(name: str) -> None:
    said = TOOLS[name].description

    inputs, outputs = (re.search(rf"^{section}: (.*)$", said, re.MULTILINE) for section in ("INPUTS", "OUTPUTS"))

    assert inputs is not None
    assert outputs is not None
    assert [key for key in INPUTS[name] if key not in inputs[1]] == []
    assert [key for key in ANSWERS[name] - PLAN - QUALITY - {"ref"} if key not in outputs[1]] == []


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_hints_tell_who_reads_and_who_writes(name: str) -> None:
    assert TOOLS[name].annotations == {
        "read_only": name in READING | ASKING,
        "destructive": False,
        "idempotent": name in READING | OWNING,
        "open_world": name not in READING | OWNING,
    }


@pytest.mark.parametrize("name", [name for name, inputs in INPUTS.items() if "ref" in inputs])
def test_the_published_pattern_takes_whatever_the_contract_takes(name: str) -> None:
    pattern = TOOLS[name].input_schema["properties"]["ref"]["pattern"]

    for text in ("10.1234/abc", "10.1016/S0370-1573(98)00122-3", "arXiv:2401.12345", "2401.12345"):
        assert re.search(pattern, text)


@pytest.mark.parametrize("name", sorted(TOOLS))
@pytest.mark.parametrize(
    "arguments", [{}, {"ref": None}, {"ref": "x"}, {"ref": 7}, {"nothing": 1}, {"dry_run": "maybe"}]
)
def test_arguments_that_do_not_fit_are_told_in_the_envelope(world: World, name: str, arguments: dict[str, Any]) -> None:
    told = world.call(name.removeprefix("doiget_"), **arguments)

    Draft7Validator(TOOLS[name].output_schema).validate(told)
    if told["ok"] is False:
        assert told["error"]["code"] == "INVALID_REF"
        assert told["error"]["disposition"] == "terminal"
        assert "denial_context" not in told["error"]
    assert world.asked == []


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_an_argument_that_nobody_knows_is_refused_with_or_without_the_reference(world: World, name: str) -> None:
    given = least(name)

    told = world.call(name.removeprefix("doiget_"), **given, otters=True)

    assert told["error"]["code"] == "INVALID_REF"
    if name in NO_ECHO:
        assert "ref" not in told
    else:
        assert told.get("ref", "left out") == given.get("ref")
    assert world.asked == []


@pytest.mark.parametrize("name", sorted(set(TOOLS) - DRY))
def test_a_stray_dry_run_is_refused_in_the_envelope(world: World, name: str) -> None:
    told = world.call(name.removeprefix("doiget_"), **least(name), dry_run=True)

    assert told["ok"] is False
    assert told["error"]["code"] == "INVALID_REF"
    assert world.asked == []


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_has_a_text_and_a_budget_where_it_may_be_long(name: str) -> None:
    assert TOOLS[name].text
    assert (TOOLS[name].budget is None) == (name.removeprefix("doiget_") in UNBOUNDED)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_failure_is_one_sentence_for_a_model_and_the_envelope_for_programs(world: World, name: str) -> None:
    asked = (name.removeprefix("doiget_"), {**least(name), "otters": True})

    (as_json,) = world.calls(asked)
    world.as_json = False
    (told,) = world.calls(asked)

    assert told == as_json
    assert world.texts[1].startswith(("INVALID_REF (terminal): ", f"{DOI} · INVALID_REF (terminal): "))
    assert world.texts[1].endswith(" Correct the arguments.")
    assert "\n" not in world.texts[1]


def test_the_data_of_an_answer_is_whole_whatever_its_text_has_room_for(world: World) -> None:
    (world.root / ".metadata").mkdir(parents=True)
    for number in range(60):
        entry = f"schema_version = '1.0'\ntitle = 'Otters of river {number}'\n"
        (world.root / ".metadata" / f"doi_10.1234_{number:02}.toml").write_text(entry, "utf-8")
    whole = world.call("list_recent", limit=60)

    world.as_json = False
    told = world.call("list_recent", limit=60, max_tokens=300)

    assert told == whole
    assert len(told["entries"]) == 60
    assert count_tokens(world.texts[-1]) <= 300
    assert re.match(r"> Here are the first \d\d of 60 stored papers\.\n", world.texts[-1])
    assert "Otters of river 5 " in world.texts[-1]
    assert "Otters of river 59 " not in world.texts[-1]


@pytest.mark.parametrize("name", sorted(READING))
def test_reading_makes_no_folder_and_asks_nobody(world: World, name: str) -> None:
    told = world.call(name.removeprefix("doiget_"), **least(name))

    assert told["ok"] is True
    assert list(world.folder.iterdir()) == []
    assert world.asked == []


def test_numbers_may_be_texts_and_a_blank_one_is_none(world: World) -> None:
    assert world.call("search_local", query="otters", limit="7")["ok"] is True
    assert world.call("list_recent", limit="")["ok"] is True
    assert world.call("list_recent", limit="seven")["error"]["code"] == "INVALID_REF"
