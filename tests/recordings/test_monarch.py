"""The Monarch Initiative as its own service wrote it on 2026-06-30, and matches as recorded on 2026-08-11."""

from __future__ import annotations

import pytest

from tests.support.recordings import recorded, replay


def test_an_entity_by_its_id() -> None:
    rows, requests = replay("monarch", "entities", {"entity_id": "MONDO:0020121"}, recorded("monarch/entity-node.json"))

    assert requests[0]["get"] == "https://api.monarchinitiative.org/v3/api/entity/MONDO%3A0020121"
    assert len(rows) == 1
    assert rows[0]["label"] == "muscular dystrophy"
    assert rows[0]["category"] == "biolink:Disease"
    assert rows[0]["description"].startswith(
        "Muscular dystrophy (MD) refers to a group of more than 30 genetic diseases"
    )
    assert len(rows[0]["cross_references"]) == 14
    assert rows[0]["cross_references"][0] == "DOID:9884"
    assert rows[0]["url"] == "https://monarchinitiative.org/MONDO:0020121"


def test_entities_by_words() -> None:
    rows, requests = replay("monarch", "entities", {"query": "fanconi"}, recorded("monarch/search-first-5.json"))

    assert requests[0]["query"] == {"q": "fanconi"}
    assert [row["id"] for row in rows] == [
        "MONDO:0019391",
        "MONDO:0007600",
        "MONDO:0009217",
        "MONDO:0001083",
        "MONDO:0060778",
    ]
    assert rows[2] == {
        "id": "MONDO:0009217",
        "label": "Fanconi-like syndrome",
        "category": "biolink:Disease",
        "description": "A syndrome characterized by pancytopenia, immune deficiency and cutaneous malignancies.",
        "cross_references": [
            "DOID:0090066",
            "MEDGEN:56237",
            "MESH:C536855",
            "OMIM:227850",
            "SCTID:236469003",
            "UMLS:C0151638",
        ],
        "url": "https://monarchinitiative.org/MONDO:0009217",
    }


def test_associations_name_both_sides_and_the_source() -> None:
    rows, _ = replay("monarch", "associations", {"entity_id": "MONDO:0020121"}, recorded("monarch/associations.json"))

    assert len(rows) == 20
    assert rows[0] == {
        "subject_id": "phenopacket.store:LMNA.PMID_10939567_Patient_Spo69",
        "subject_label": "Patient Spo69",
        "object_id": "MONDO:0021569",
        "object_label": "Emery-Dreifuss muscular dystrophy 2, autosomal dominant",
        "category": "biolink:CaseToDiseaseAssociation",
        "predicate": "biolink:has_disease",
        "primary_knowledge_source": "infores:phenopacket-store",
        "url": "https://monarchinitiative.org/phenopacket.store:LMNA.PMID_10939567_Patient_Spo69",
    }


def test_matches_without_their_best_pairs_still_have_a_score() -> None:
    rows, _ = replay(
        "monarch",
        "phenotype_matches",
        {"phenotypes": ["HP:0001250", "HP:0001263"], "group": "Human Diseases"},
        recorded("monarch/semsim-search-reduced.json"),
    )

    assert [row["id"] for row in rows] == ["MONDO:0010450", "MONDO:0007366", "MONDO:0010451"]
    assert rows[0]["label"] == "intellectual disability, X-linked 89"
    assert rows[0]["score"] == pytest.approx(13.333213399159908)
    assert "ancestor_id" not in rows[0]


def test_a_comparison_names_what_the_best_pair_has_in_common() -> None:
    rows, requests = replay(
        "monarch",
        "phenotype_comparison",
        {"phenotypes": ["MP:0010771", "MP:0002169"], "compare_to": ["HP:0004325"]},
        recorded("monarch/semsim-compare.json"),
    )

    assert requests[0]["json"]["objects"] == ["HP:0004325"]
    assert len(rows) == 1
    assert rows[0]["score"] == pytest.approx(2.0645616988040345)
    assert rows[0]["average_score"] == pytest.approx(2.060832036881197)
    assert rows[0]["ancestor_id"] == "UPHENO:0002949"
    assert rows[0]["ancestor_label"] == "multicellular organism phenotype"
