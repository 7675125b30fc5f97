"""Publishers that are asked under an agreement: with it and a key, about their own, and last of all for a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from specloom.domains.papers.config import PUBLISHERS, publisher_of
from tests.support.paper_store import PDF, World, arxiv, as_json, crossref, pdf, unpaywall

if TYPE_CHECKING:
    from tests.support.loopback import Call, Reply

DOI = "10.1103/PhysRevX.4.021018"
HARVEST = f"harvest.aps.org/v2/journals/articles/{DOI}"
AGREED = {"DOIGET_AGREE_TDM_APS": "1", "DOIGET_KEY_APS": "made-up-token"}
RECORD = {"data": {"identifiers": {"doi": DOI}, "title": {"value": "Otters"}, "authors": [{"name": "Ann Otter"}]}}


def harvest(reply: Reply, record: Reply | None = None) -> Any:
    """APS: what it gives for a PDF, and for a record."""

    def answer(call: Call) -> Reply:
        assert call.headers["authorization"] == "Bearer made-up-token"
        return reply if "pdf" in call.headers["accept"] else record or as_json(RECORD)

    return answer


def attempts(told: dict[str, Any], source: str) -> list[dict[str, Any]]:
    return [one for one in told["attempts"] if one["source"] == source]


def test_a_blocked_paper_comes_from_its_publisher_under_an_agreement(world: World) -> None:
    world.environ = dict(AGREED)
    world.pages |= {**crossref(DOI), **unpaywall(DOI, "https://elsewhere.example.com/x.pdf"), HARVEST: harvest(pdf())}

    told = world.call("fetch_paper", ref=DOI)

    assert told["pdf"]["status"] == "tdm_fetched"
    assert told["pdf"]["source"] == "tdm-aps"
    assert told["pdf"]["original_block"]["code"] == "CAPABILITY_DENIED"
    assert (told["source"], told["license"], told["size_bytes"]) == ("tdm-aps", "unknown", len(PDF))
    assert world.asked[-1] == f"https://{HARVEST}"
    rows = [(row["event"], row["capability"], row["license"]) for row in world.rows() if row["source"] == "tdm-aps"]
    assert rows == [("fetch", "tdm-aps", "unknown"), ("store_write", "tdm-aps", "unknown")]
    assert "made-up-token" not in world.log.read_text("utf-8")
    assert "made-up-token" not in str(told)


def test_an_open_copy_and_a_preprint_go_before_the_publisher(world: World) -> None:
    world.environ = dict(AGREED)
    world.pages |= {**crossref(DOI), **unpaywall(DOI, "https://journals.aps.org/x.pdf"), HARVEST: harvest(pdf())}
    world.pages["journals.aps.org/x.pdf"] = pdf()
    assert world.call("fetch_paper", ref=DOI)["pdf"] == {"status": "fetched"}

    relation = {"has-preprint": [{"id-type": "doi", "id": "10.48550/arXiv.2001.00001"}]}
    world.pages |= {**crossref(f"{DOI}2", relation=relation), **unpaywall(f"{DOI}2", status="closed")}
    world.pages |= {**arxiv("2001.00001v1"), "arxiv.org/pdf/2001.00001v1": pdf()}
    assert world.call("fetch_paper", ref=f"{DOI}2")["pdf"]["status"] == "preprint_fallback"
    assert not any("harvest" in url for url in world.asked)


@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        ({}, ["DOIGET_AGREE_TDM_APS", "DOIGET_KEY_APS"]),
        ({"DOIGET_KEY_APS": "k"}, ["DOIGET_AGREE_TDM_APS"]),
        ({"DOIGET_KEY_APS": "k", "DOIGET_AGREE_TDM_APS": "yes"}, ["DOIGET_AGREE_TDM_APS"]),
        ({"DOIGET_AGREE_TDM_APS": "1"}, ["DOIGET_KEY_APS"]),
    ],
)
def test_without_agreement_and_key_a_publisher_is_not_asked_and_the_answer_says_why(
    world: World, environ: dict[str, str], missing: list[str]
) -> None:
    world.environ = environ
    world.pages |= {**crossref(DOI), **unpaywall(DOI, status="closed"), HARVEST: pdf()}

    told = world.call("fetch_paper", ref=DOI)

    assert told["pdf"] == {"status": "no_oa_url"}
    [step] = attempts(told, "tdm-aps")
    assert (step["outcome"], step["required_env"]) == ("not_consulted_disabled", missing)
    assert step["detail"] == " + ".join(missing)
    assert not any("harvest" in url for url in world.asked)
    assert world.call("capability_profile")["tier_3"] == []


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ((401, {}, b""), "consulted_denied"),
        ((403, {}, b""), "consulted_denied"),
        ((404, {}, b""), "consulted_no_record"),
        ((200, {}, b"<html>Log in</html>"), "consulted_failed"),
        ((302, {"Location": "https://elsewhere.example.com/x.pdf"}, b""), "consulted_denied"),
    ],
)
def test_what_a_publisher_refuses_stands_among_the_attempts_alone(world: World, reply: Reply, outcome: str) -> None:
    world.environ = dict(AGREED)
    world.pages |= {**crossref(DOI), **unpaywall(DOI, status="closed"), HARVEST: harvest(reply)}

    told = world.call("fetch_paper", ref=DOI)

    assert told["pdf"] == {"status": "no_oa_url"}
    [step] = attempts(told, "tdm-aps")
    assert step["outcome"] == outcome
    if reply[0] in (401, 403):
        assert step["denial_context"] == {"reason": "capability_not_granted", "source": "tdm-aps"}
    assert not any("elsewhere" in url for url in world.asked)


def test_the_token_stays_where_it_belongs_when_a_registry_is_on_the_way(world: World) -> None:
    seen: list[str | None] = []

    def registry(call: Call) -> Reply:
        seen.append(call.headers.get("authorization"))
        return 302, {"Location": f"https://{HARVEST}x"}, b""

    world.environ = dict(AGREED)
    world.pages |= {**crossref(DOI), **unpaywall(DOI, status="closed"), "doi.org/x": registry}
    world.pages |= {HARVEST: harvest((302, {"Location": "https://doi.org/x"}, b"")), f"{HARVEST}x": harvest(pdf())}

    assert world.call("fetch_paper", ref=DOI)["pdf"]["status"] == "tdm_fetched"
    assert seen == [None]


def test_a_record_that_the_registry_does_not_have_comes_from_the_publisher(world: World) -> None:
    world.environ = dict(AGREED)
    world.pages[HARVEST] = harvest(pdf())

    told = world.call("metadata_only", ref=DOI)

    assert (told["source"], told["license"]) == ("tdm-aps", "unknown")
    assert told["metadata"]["title"] == "Otters"
    stored = world.call("info", ref=DOI)["metadata"]
    assert (stored["publisher"], stored["type"], stored["authors"]) == (
        "American Physical Society",
        "journal-article",
        ["Ann Otter"],
    )
    assert [row["capability"] for row in world.rows() if row["source"] == "tdm-aps"] == ["tdm-aps", "metadata"]


def test_no_record_is_asked_for_without_an_agreement_either(world: World) -> None:
    world.environ = {"DOIGET_KEY_APS": "made-up-token"}
    world.pages[f"api.unpaywall.org/v2/{DOI.replace('/', '%2F')}"] = as_json({"doi": DOI, "title": "Otters"})

    told = world.call("fetch_paper", ref=DOI)

    assert told["source"] == "unpaywall"
    assert [one["outcome"] for one in attempts(told, "tdm-aps")] == ["not_consulted_disabled"]
    assert [one["required_env"] for one in attempts(told, "tdm-aps")] == [["DOIGET_AGREE_TDM_APS"]]


def test_names_of_authors_are_turned_as_the_store_has_them(world: World) -> None:
    doi = "10.1007/otters-1"
    world.environ = {"DOIGET_AGREE_TDM_SPRINGER": "1", "DOIGET_KEY_SPRINGER": "made-up-key"}
    record = {"doi": doi, "title": "Otters", "creators": [{"creator": "Otter, Ann"}]}
    world.pages["api.springernature.com/meta/v2/json"] = as_json({"records": [record]})

    told = world.call("metadata_only", ref=doi)

    assert told["source"] == "tdm-springer"
    assert world.call("info", ref=doi)["metadata"]["authors"] == ["Ann Otter"]


def test_a_publisher_is_asked_about_its_own_papers_alone(world: World) -> None:
    world.environ = {**AGREED, "DOIGET_AGREE_TDM_ELSEVIER": "1", "DOIGET_KEY_ELSEVIER": "k"}
    world.pages[f"api.elsevier.com/content/article/doi/{DOI}"] = as_json({})
    world.pages[HARVEST] = harvest(pdf(), (404, {}, b""))
    world.pages |= unpaywall(DOI, status="closed")
    world.pages[f"api.unpaywall.org/v2/{DOI.replace('/', '%2F')}"] = as_json({"doi": DOI, "title": "Otters"})

    told = world.call("fetch_paper", ref=DOI)

    assert told["source"] == "tdm-aps"
    [step] = attempts(told, "tdm-elsevier")
    assert step == {
        "source": "tdm-elsevier",
        "outcome": "not_consulted_wrong_publisher",
        "consulted": False,
        "detail": "10.1103 is of another publisher",
    }
    assert [one["outcome"] for one in attempts(told, "tdm-aps")] == ["consulted_no_record", "consulted_resolved"]
    assert not any("elsevier" in url for url in world.asked)


def test_the_profile_tells_what_is_granted_and_no_key(world: World) -> None:
    world.environ = {**AGREED, "DOIGET_AGREE_TDM_SPRINGER": "1", "DOIGET_KEY_ELSEVIER": "made-up-key"}

    told = world.call("capability_profile")

    assert told["tier_3"] == ["tdm-aps"]
    flags = [told[f"tdm_{name}"] for name in ("enabled", "elsevier", "aps", "springer", "ieee")]
    assert flags == [True, False, True, False, False]
    assert "made-up" not in str(told)


def test_no_prefix_has_two_publishers() -> None:
    prefixes = [prefix for one in PUBLISHERS for prefix in one.prefixes]

    assert len(set(prefixes)) == len(prefixes)
    assert publisher_of("10.1038/x") is PUBLISHERS[2]
    assert publisher_of("10.10388/x") is None
