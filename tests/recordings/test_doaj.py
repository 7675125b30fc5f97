"""DOAJ as recorded on 2020-11-25 from v2 of the API, whose articles have the shape of those of v4."""

from __future__ import annotations

from tests.support.recordings import recorded, replay

QUERY = {"query": "otters", "num_results": 10}


def test_a_page_of_articles_has_titles_years_and_first_authors() -> None:
    rows, requests = replay("doaj", "scholarly", QUERY, recorded("doaj/article-search.json"))

    assert [request["get"] for request in requests] == ["https://doaj.org/api/v4/search/articles/otters"]
    assert len(rows) == 10
    first = rows[0]
    assert first["title"] == "Brain insulin sensitivity is linked to adiposity and body fat distribution"
    assert first["doi"] == "10.1038/s41467-020-15686-y"
    assert first["url"] == "https://doi.org/10.1038/s41467-020-15686-y"
    assert first["authors"][0] == "Stephanie Kullmann"
    assert len(first["authors"]) == 9
    assert first["journal"] == "Nature Communications"
    assert first["abstract"].startswith("Brain insulin action regulates eating behavior")
    assert "pdf_url" not in first
    assert [row["year"] for row in rows] == [2020, 2013, 2017, 2015, 2019, 2019, 2020, 2013, 2013, 2005]
    assert rows[7]["authors"][0] == "Sultan GÜÇLÜ"
    assert all(row["open_access"] and row["is_in_doaj"] for row in rows)


def test_a_pdf_is_known_by_what_the_depositor_says_or_by_how_its_address_ends() -> None:
    rows, _ = replay("doaj", "scholarly", QUERY, recorded("doaj/article-search.json"))

    assert [at for at, row in enumerate(rows) if "pdf_url" in row] == [1, 3, 8, 9]
    assert rows[1]["pdf_url"] == "http://revistaseletronicas.pucrs.br/ojs/index.php/fale/article/view/15435/10129"
    assert rows[3]["pdf_url"] == "http://ies.ijo.cn/cn_publish/2015/10/201510016.pdf"


def test_an_article_without_a_doi_is_where_its_text_is() -> None:
    rows, _ = replay("doaj", "scholarly", QUERY, recorded("doaj/article-search.json"))

    assert rows[4]["url"] == "https://journals.library.columbia.edu/index.php/cswr/article/view/1975"
    assert "doi" not in rows[4]
