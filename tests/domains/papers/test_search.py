"""Searches of a store as people type them: 50 works that there are, among 2,000 that were made up."""

# ruff: noqa: E501

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.paper_store import World

WORKS = """\
10.1038/171737a0|Molecular Structure of Nucleic Acids: A Structure for Deoxyribose Nucleic Acid|J. D. Watson, F. H. C. Crick|Nature|1953
10.1002/j.1538-7305.1948.tb01338.x|A Mathematical Theory of Communication|C. E. Shannon|Bell System Technical Journal|1948
10.1112/plms/s2-42.1.230|On Computable Numbers, with an Application to the Entscheidungsproblem|A. M. Turing|Proceedings of the London Mathematical Society|1937
10.1093/mind/LIX.236.433|Computing Machinery and Intelligence|A. M. Turing|Mind|1950
10.1103/PhysRev.47.777|Can Quantum-Mechanical Description of Physical Reality Be Considered Complete?|A. Einstein, B. Podolsky, N. Rosen|Physical Review|1935
10.1103/PhysRevLett.116.061102|Observation of Gravitational Waves from a Binary Black Hole Merger|LIGO Scientific Collaboration|Physical Review Letters|2016
10.1126/science.1225829|A Programmable Dual-RNA–Guided DNA Endonuclease in Adaptive Bacterial Immunity|Martin Jinek, Krzysztof Chylinski, Jennifer A. Doudna|Science|2012
10.1038/nature14539|Deep learning|Yann LeCun, Yoshua Bengio, Geoffrey Hinton|Nature|2015
10.1162/neco.1997.9.8.1735|Long Short-Term Memory|Sepp Hochreiter, Jürgen Schmidhuber|Neural Computation|1997
10.1038/s41586-021-03819-2|Highly accurate protein structure prediction with AlphaFold|John Jumper, Demis Hassabis|Nature|2021
10.1038/nature16961|Mastering the game of Go with deep neural networks and tree search|David Silver, Aja Huang|Nature|2016
10.1371/journal.pmed.0020124|Why Most Published Research Findings Are False|John P. A. Ioannidis|PLoS Medicine|2005
10.1126/science.aac4716|Estimating the reproducibility of psychological science|Open Science Collaboration|Science|2015
10.1038/227680a0|Cleavage of Structural Proteins during the Assembly of the Head of Bacteriophage T4|U. K. Laemmli|Nature|1970
10.1016/0003-2697(76)90527-3|A rapid and sensitive method for the quantitation of microgram quantities of protein|Marion M. Bradford|Analytical Biochemistry|1976
10.1016/S0022-2836(05)80360-2|Basic local alignment search tool|Stephen F. Altschul, Warren Gish, Webb Miller|Journal of Molecular Biology|1990
10.1093/nar/25.17.3389|Gapped BLAST and PSI-BLAST: a new generation of protein database search programs|Stephen F. Altschul, Thomas L. Madden|Nucleic Acids Research|1997
10.1111/j.2517-6161.1995.tb02031.x|Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing|Yoav Benjamini, Yosef Hochberg|Journal of the Royal Statistical Society Series B|1995
10.1111/j.2517-6161.1996.tb02080.x|Regression Shrinkage and Selection via the Lasso|Robert Tibshirani|Journal of the Royal Statistical Society Series B|1996
10.1023/A:1010933404324|Random Forests|Leo Breiman|Machine Learning|2001
10.1007/BF00994018|Support-vector networks|Corinna Cortes, Vladimir Vapnik|Machine Learning|1995
10.1037/0033-295X.84.2.191|Self-efficacy: Toward a unifying theory of behavioral change|Albert Bandura|Psychological Review|1977
10.2307/1914185|Prospect Theory: An Analysis of Decision under Risk|Daniel Kahneman, Amos Tversky|Econometrica|1979
10.1126/science.185.4157.1124|Judgment under Uncertainty: Heuristics and Biases|Amos Tversky, Daniel Kahneman|Science|1974
10.1126/science.162.3859.1243|The Tragedy of the Commons|Garrett Hardin|Science|1968
10.1017/S0140525X0999152X|The weirdest people in the world?|Joseph Henrich, Steven J. Heine, Ara Norenzayan|Behavioral and Brain Sciences|2010
10.1191/1478088706qp063oa|Using thematic analysis in psychology|Virginia Braun, Victoria Clarke|Qualitative Research in Psychology|2006
10.1136/bmj.n71|The PRISMA 2020 statement: an updated guideline for reporting systematic reviews|Matthew J. Page, David Moher|BMJ|2021
10.1016/S0140-6736(20)30183-5|Clinical features of patients infected with 2019 novel coronavirus in Wuhan, China|Chaolin Huang, Yeming Wang|The Lancet|2020
10.1056/NEJMoa2034577|Safety and Efficacy of the BNT162b2 mRNA Covid-19 Vaccine|Fernando P. Polack, Stephen J. Thomas|New England Journal of Medicine|2020
10.1038/318162a0|C60: Buckminsterfullerene|H. W. Kroto, R. F. Curl, R. E. Smalley|Nature|1985
10.1126/science.1102896|Electric Field Effect in Atomically Thin Carbon Films|K. S. Novoselov, A. K. Geim|Science|2004
10.1103/PhysRev.140.A1133|Self-Consistent Equations Including Exchange and Correlation Effects|W. Kohn, L. J. Sham|Physical Review|1965
10.1103/PhysRevLett.77.3865|Generalized Gradient Approximation Made Simple|John P. Perdew, Kieron Burke, Matthias Ernzerhof|Physical Review Letters|1996
10.1107/S2053229614024218|Crystal structure refinement with SHELXL|George M. Sheldrick|Acta Crystallographica Section C|2015
10.1006/meth.2001.1262|Analysis of Relative Gene Expression Data Using Real-Time Quantitative PCR and the 2(−ΔΔCT) Method|Kenneth J. Livak, Thomas D. Schmittgen|Methods|2001
10.1186/s13059-014-0550-8|Moderated estimation of fold change and dispersion for RNA-seq data with DESeq2|Michael I. Love, Wolfgang Huber, Simon Anders|Genome Biology|2014
10.1093/bioinformatics/btp352|The Sequence Alignment/Map format and SAMtools|Heng Li, Bob Handsaker|Bioinformatics|2009
10.1038/nmeth.2019|Fiji: an open-source platform for biological-image analysis|Johannes Schindelin, Pavel Tomancak|Nature Methods|2012
10.1038/s41586-020-2649-2|Array programming with NumPy|Charles R. Harris, K. Jarrod Millman|Nature|2020
10.1109/MCSE.2007.55|Matplotlib: A 2D Graphics Environment|John D. Hunter|Computing in Science & Engineering|2007
10.1007/s11192-009-0146-3|Software survey: VOSviewer, a computer program for bibliometric mapping|Nees Jan van Eck, Ludo Waltman|Scientometrics|2010
10.1371/journal.pone.0000308|Sharing Detailed Research Data Is Associated with Increased Citation Rate|Heather A. Piwowar, Roger S. Day, Douglas B. Fridsma|PLoS ONE|2007
10.7717/peerj.4375|The state of OA: a large-scale analysis of the prevalence and impact of Open Access articles|Heather Piwowar, Jason Priem, Stefanie Haustein|PeerJ|2018
10.1038/sdata.2016.18|The FAIR Guiding Principles for scientific data management and stewardship|Mark D. Wilkinson, Michel Dumontier|Scientific Data|2016
10.1007/BF01397280|Über den anschaulichen Inhalt der quantentheoretischen Kinematik und Mechanik|W. Heisenberg|Zeitschrift für Physik|1927
10.1002/andp.19053221004|Zur Elektrodynamik bewegter Körper|A. Einstein|Annalen der Physik|1905
10.1007/BF01700692|Über formal unentscheidbare Sätze der Principia Mathematica und verwandter Systeme I|Kurt Gödel|Monatshefte für Mathematik und Physik|1931
10.1021/ja01355a027|The nature of the chemical bond|Linus Pauling|Journal of the American Chemical Society|1931
10.1145/362384.362685|A relational model of data for large shared data banks|E. F. Codd|Communications of the ACM|1970"""
SEARCHES = {
    "watson crick dna": "10.1038/171737a0",
    "shannon communication": "10.1002/j.1538-7305.1948.tb01338.x",
    "turing 1950": "10.1093/mind/LIX.236.433",
    "entscheidungsproblem": "10.1112/plms/s2-42.1.230",
    "einstein podolsky rosen": "10.1103/PhysRev.47.777",
    "gravitational waves LIGO": "10.1103/PhysRevLett.116.061102",
    "doudna 2012": "10.1126/science.1225829",
    "deep learning nature": "10.1038/nature14539",
    "schmidhuber LSTM year:1990-2000": "10.1162/neco.1997.9.8.1735",
    "schmidhuber": "10.1162/neco.1997.9.8.1735",
    "alphafold": "10.1038/s41586-021-03819-2",
    "game of go": "10.1038/nature16961",
    "ioanidis": "10.1371/journal.pmed.0020124",
    "reproducibility psychology": "10.1126/science.aac4716",
    "laemmli": "10.1038/227680a0",
    "https://doi.org/10.1016/0003-2697(76)90527-3": "10.1016/0003-2697(76)90527-3",
    "blast altschul year:1990": "10.1016/S0022-2836(05)80360-2",
    "false discovery rate": "10.1111/j.2517-6161.1995.tb02031.x",
    "lasso": "10.1111/j.2517-6161.1996.tb02080.x",
    "breiman forests": "10.1023/A:1010933404324",
    "kahneman tversky prospect": "10.2307/1914185",
    "weird people henrich": "10.1017/S0140525X0999152X",
    "10.1136/BMJ.N71": "10.1136/bmj.n71",
    "covid vaccine efficacy": "10.1056/NEJMoa2034577",
    "graphene carbon films": "10.1126/science.1102896",
    "electric field carbon films": "10.1126/science.1102896",
    "goedel unentscheidbare": "10.1007/BF01700692",
    "gödel": "10.1007/BF01700692",
    "uber den anschaulichen inhalt": "10.1007/BF01397280",
    "relational model codd": "10.1145/362384.362685",
}


def fill(root: Path) -> None:
    """A store with all of them, in the form in which any program writes entries."""
    folder = root / ".metadata"
    folder.mkdir(parents=True)
    for line in WORKS.splitlines():
        doi, title, authors, venue, year = line.split("|")
        write(folder, doi, title, authors.split(", "), venue, year)
    chance = random.Random(24)
    subjects = [
        "otter",
        "river",
        "protein",
        "network",
        "election",
        "market",
        "galaxy",
        "enzyme",
        "climate",
        "memory",
        "carbon",
        "language",
        "risk",
    ]
    verbs = ["shapes", "predicts", "reduces", "links", "models", "maps", "tests"]
    names = ["Ann Weber", "Bo Lindqvist", "Chen Wei", "Dara O'Neil", "Eva Núñez", "Femi Ade", "Gita Rao", "Hana Sato"]
    for number in range(2_000):
        first, second = chance.sample(subjects, 2)
        title = f"How the {first} {chance.choice(verbs)} the {second}: study {number}"
        year = str(chance.randrange(1930, 2026))
        write(folder, f"10.5555/{number}", title, chance.sample(names, 2), f"Journal of {second.title()} Science", year)


def write(folder: Path, doi: str, title: str, authors: list[str], venue: str, year: str) -> None:
    key = "doi_" + "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in doi)
    fields = {"doi": doi, "title": title, "venue": venue}
    lines = [f'{name} = "{text}"' for name, text in fields.items()]
    quoted = ", ".join(f'"{name}"' for name in authors)
    text = "\n".join(["schema_version = '1.0'", *lines, f"authors = [{quoted}]", f"year = {year}", ""])
    (folder / f"{key}.toml").write_text(text, encoding="utf-8")


def test_what_a_person_types_finds_the_work_among_the_first_three_and_its_ref_opens_it(world: World) -> None:
    fill(world.root)
    missed, closed = [], []

    for query, doi in SEARCHES.items():
        rows = world.call("search_local", query=query, limit=3)["results"]
        refs = [row["ref"] for row in rows]
        if doi not in refs:
            missed.append((query, refs))
        closed += [ref for ref in refs if world.call("info", ref=ref)["metadata"] is None]

    assert len(SEARCHES) == 30
    assert len(missed) <= 2, missed
    assert closed == []


@pytest.mark.parametrize("query", ["-", "year:", "tag:", '"', 'in:""', "year:abc", "().*[", "\\", "é" * 500])
def test_no_query_breaks_a_search(world: World, query: str) -> None:
    fill_one(world.root)

    told = world.call("search_local", query=query)

    assert told["ok"] is True or told["error"]["code"] == "INVALID_REF"


def fill_one(root: Path) -> None:
    folder = root / ".metadata"
    folder.mkdir(parents=True)
    write(folder, "10.5555/1", "Otters", ["Ann Weber"], "Rivers", "2020")


VALUE_BEHIND = "write the value right behind the colon, as in tag:river, or words in quotes"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("otters year:abc", "'year:abc' names no year; write year:2015, year:2015-2018, year:2015- or year:-2018"),
        ("-year:x", "'-year:x' names no year; write year:2015, year:2015-2018, year:2015- or year:-2018"),
        ("year:2018-2015", "'year:2018-2015' ends before it begins; write the earlier year first"),
        (
            "tag: river",
            "'tag:' names nothing; write the value right behind the colon, as in tag:river, or words in quotes",
        ),
        *(
            (query, f"{query.split()[-2]!r} names nothing; {VALUE_BEHIND}")
            for query in ("in: thesis", "otters tag: river", "otters -in: thesis", "otters year: 2015-2018")
        ),
        (
            'in:"?"',
            "'in:\"?\"' names nothing; write the value right behind the colon, as in tag:river, or words in quotes",
        ),
        ("Author:otter", "Author: is no filter; there are year:, tag: and in:, and words without a filter find it"),
        ("?!", "the query '?!' has no word in it; give words, a DOI, or filters such as tag:river"),
    ],
)
def test_a_query_that_holds_nothing_back_is_refused_with_what_to_write(world: World, query: str, sentence: str) -> None:
    assert world.call("search_local", query=query)["error"]["message"] == sentence


@pytest.mark.parametrize(
    "query", ["Note: on otters", '"first year: otters"', "-otters", "in:thesis", "C60: a molecule"]
)
def test_a_query_that_says_something_is_taken(world: World, query: str) -> None:
    assert world.call("search_local", query=query)["ok"] is True


@pytest.mark.parametrize("title", ["Advances in: rivers", "A first year: otters", "Rivers in:", "Note: on rivers"])
def test_a_title_with_a_colon_is_found_as_it_was_pasted_however_it_is_stored(world: World, title: str) -> None:
    folder = world.root / ".metadata"
    folder.mkdir(parents=True)
    write(folder, "10.5555/1", title, ["Ann Weber"], "Weirs", "2020")
    write(folder, "10.5555/2", title.replace(":", ""), ["Ann Weber"], "Weirs", "2020")
    write(folder, "10.5555/3", "Otters", ["Ann Weber"], "Weirs", "2020")

    rows = world.call("search_local", query=title)["results"]

    assert {row["ref"] for row in rows} == {"10.5555/1", "10.5555/2"}
