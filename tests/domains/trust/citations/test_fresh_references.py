"""References as people and models write them, held against what the registries have: no wrong one is ever confirmed.

The records are facts of well-known works, reduced by hand; what is cited wrongly was changed by hand: a word, a number
or a name at a time.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import trust_replay

from tests.support.shipped import shipped_model


def _work(title: str, authors: str, year: int, venue: str = "", **more: Any) -> dict[str, Any]:
    """A record; `authors` are "Family, Given" between semicolons."""
    names = [name.partition(", ")[::2] for name in authors.split("; ")]
    return {"title": title, "authors": names, "year": year, **({"venue": venue} if venue else {}), **more}


CROSSREF = {
    "10.1038/nature14539": _work("Deep learning", "LeCun, Yann; Bengio, Yoshua; Hinton, Geoffrey", 2015, "Nature"),
    "10.1109/cvpr.2016.90": _work("Deep Residual Learning for Image Recognition", "He, Kaiming; Zhang, Xiangyu", 2016),
    "10.1038/s41586-021-03819-2": _work(
        "Highly accurate protein structure prediction with AlphaFold", "Jumper, John; Evans, Richard", 2021, "Nature"
    ),
    "10.2307/202051": _work(
        "The Strength of Weak Ties: A Network Theory Revisited", "Granovetter, Mark", 1983, "Sociological Theory"
    ),
    "10.1086/225469": _work("The Strength of Weak Ties", "Granovetter, Mark S.", 1973, "American Journal of Sociology"),
    "10.1103/physrev.47.777": _work(
        "Can Quantum-Mechanical Description of Physical Reality Be Considered Complete?",
        "Einstein, A.; Podolsky, B.; Rosen, N.",
        1935,
        "Physical Review",
    ),
    "10.1103/physrev.48.696": _work(
        "Can Quantum-Mechanical Description of Physical Reality be Considered Complete?", "Bohr, N.", 1935
    ),
    "10.1002/andp.19053220607": _work(
        "Über einen die Erzeugung und Verwandlung des Lichtes betreffenden heuristischen Gesichtspunkt",
        "Einstein, A.",
        1905,
        "Annalen der Physik",
    ),
    "10.1017/cbo9780511804441": _work("Convex Optimization", "Boyd, Stephen; Vandenberghe, Lieven", 2004),
    "10.2307/1884852": _work(
        "A Behavioral Model of Rational Choice", "Simon, Herbert A.", 1955, "The Quarterly Journal of Economics"
    ),
    "10.1007/978-0-387-84858-7": _work(
        "The Elements of Statistical Learning", "Hastie, Trevor; Tibshirani, Robert; Friedman, Jerome", 2009
    ),
    "10.1126/science.aac4716": _work(
        "Estimating the reproducibility of psychological science", "Open Science Collaboration", 2015, "Science"
    ),
    "10.1371/journal.pmed.0020124": _work(
        "Why Most Published Research Findings Are False", "Ioannidis, John P. A.", 2005, "PLoS Medicine"
    ),
    "10.1016/j.cell.2011.02.013": _work(
        "Hallmarks of Cancer: The Next Generation", "Hanahan, Douglas; Weinberg, Robert A.", 2011, "Cell"
    ),
    "10.1093/mind/lix.236.433": _work("I.—COMPUTING MACHINERY AND INTELLIGENCE", "TURING, A. M.", 1950, "Mind"),
    "10.1037/0033-2909.112.1.155": _work("A power primer.", "Cohen, Jacob", 1992, "Psychological Bulletin"),
    "10.1214/aos/1013203451": _work(
        "Greedy function approximation: A gradient boosting machine.", "Friedman, Jerome H.", 2001
    ),
    "10.1056/nejmoa2034577": _work(
        "Safety and Efficacy of the BNT162b2 mRNA Covid-19 Vaccine",
        "Polack, Fernando P.; Thomas, Stephen J.",
        2020,
        "New England Journal of Medicine",
    ),
    "10.1007/978-3-319-24574-4_28": _work(
        "U-Net: Convolutional Networks for Biomedical Image Segmentation",
        "Ronneberger, Olaf; Fischer, Philipp; Brox, Thomas",
        2015,
        "Lecture Notes in Computer Science",
    ),
    "10.4159/9780674245075": _work("Capital and Ideology", "Piketty, Thomas", 2020),
    "10.1016/s0140-6736(20)30183-5": _work(
        "Clinical features of patients infected with 2019 novel coronavirus in Wuhan, China",
        "Huang, Chaolin; Wang, Yeming",
        2020,
        "The Lancet",
    ),
    "10.1126/science.1256151": _work(
        "RETRACTED: When contact changes minds: An experiment on transmission of support for gay equality",
        "LaCour, Michael J.; Green, Donald P.",
        2014,
        "Science",
        updates=[{"type": "retraction", "year": 2015}],
    ),
    "10.1093/bioinformatics/btp324": _work(
        "Fast and accurate short read alignment with Burrows–Wheeler transform",
        "Li, Heng; Durbin, Richard",
        2009,
        "Bioinformatics",
    ),
    "10.1038/s41592-019-0686-2": _work(
        "SciPy 1.0: fundamental algorithms for scientific computing in Python",
        "Virtanen, Pauli; Gommers, Ralf",
        2020,
        "Nature Methods",
    ),
    "10.1111/j.2517-6161.1995.tb02031.x": _work(
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        "Benjamini, Yoav; Hochberg, Yosef",
        1995,
        "Journal of the Royal Statistical Society: Series B (Methodological)",
    ),
    "10.1103/revmodphys.81.109": _work(
        "The electronic properties of graphene", "Castro Neto, A. H.; Guinea, F.", 2009, "Reviews of Modern Physics"
    ),
    "10.3406/arss.1979.2654": _work(
        "Les trois états du capital culturel",
        "Bourdieu, Pierre",
        1979,
        "Actes de la recherche en sciences sociales",
    ),
    "10.9999/dan.114": _work(
        "О представлении непрерывных функций нескольких переменных",
        "Колмогоров, А. Н.",
        1957,
        "Доклады Академии наук СССР",
    ),
    "10.1787/ce188438-en": _work("OECD Economic Outlook, Volume 2023 Issue 1", "OECD", 2023, "OECD Economic Outlook"),
    "10.1001/jama.2020.1585": _work(
        "Clinical Characteristics of 138 Hospitalized Patients With 2019 Novel Coronavirus–Infected Pneumonia",
        "Wang, Dawei",
        2020,
        "JAMA",
    ),
    "10.1162/99608f92.b91339ef": _work("Data Science at the Singularity", "Donoho, David", 2024),
}
WORLD = trust_replay.World(crossref=CROSSREF)

REAL = [
    "LeCun, Y., Bengio, Y., & Hinton, G. (2015). Deep learning. Nature, 521(7553), 436-444.",
    "LeCun Y, Bengio Y, Hinton G. Deep learning. Nature. 2015;521:436–44.",
    'Y. LeCun, Y. Bengio, and G. Hinton, "Deep learning," Nature, vol. 521, pp. 436–444, 2015.',
    "LeCun, Y., Bengio, Y., & Hinton, G. (2016). Deep learning. Nature, 521(7553), 436-444.",
    "Granovetter, M. S. (1973). The strength of weak ties. American Journal of Sociology, 78(6), 1360–1380.",
    "Granovetter (1983) The strength of weak ties: a network theory revisited. Sociological Theory 1: 201-233",
    "Einstein, A., Podolsky, B., Rosen, N. Can quantum-mechanical description of physical reality be considered "
    "complete? Phys. Rev. 47, 777 (1935)",
    "Bohr, N. (1935). Can quantum-mechanical description of physical reality be considered complete? Physical Review.",
    "Einstein A. Ueber einen die Erzeugung und Verwandlung des Lichtes betreffenden heuristischen Gesichtspunkt. "
    "Ann. Phys. 17, 132 (1905)",
    "Boyd, S., & Vandenberghe, L. (2004). Convex optimization. Cambridge University Press.",
    "Simon HA. A Behavioural Model of Rational Choice. QJE 1955",
    "Hastie, T., Tibshirani, R., Friedman, J. (2009). The Elements of Statistical Learning: Data Mining, Inference, "
    "and Prediction (2nd ed.). Springer.",
    "Open Science Collaboration. (2015). Estimating the reproducibility of psychological science. Science, 349(6251).",
    "Ioannidis JPA (2005) Why most published research findings are false. PLoS Med 2(8): e124.",
    "Hanahan D, Weinberg RA. Hallmarks of cancer: the next generation. Cell 2011;144:646-74",
    "Turing, A. M. (1950). Computing machinery and intelligence. Mind, 59, 433-460.",
    "Cohen, J. (1992). A power primer. Psychological Bulletin, 112(1), 155-159.",
    "Friedman JH. Greedy function approximation: a gradient boosting machine. Ann. Statist. 29(5), 2001",
    "Polack FP, Thomas SJ, Kitchin N, et al. Safety and efficacy of the BNT162b2 mRNA Covid-19 vaccine. N Engl J Med "
    "2020;383:2603-15.",
    "Ronneberger O., Fischer P., Brox T. (2015) U-Net: Convolutional Networks for Biomedical Image Segmentation. In: "
    "Navab N. et al. (eds) MICCAI 2015. LNCS, vol 9351. Springer, Cham.",
    "Piketty, Thomas. Capital and Ideology. Harvard University Press, 2020.",
    "Huang C, Wang Y, Li X, et al. Clinical features of patients infected with 2019 novel coronavirus in Wuhan, China. "
    "Lancet. 2020;395(10223):497-506.",
    "LaCour MJ, Green DP (2014). When contact changes minds: An experiment on transmission of support for gay "
    "equality. Science 346.",
    "Li Heng, Durbin Richard. 'Fast and accurate short read alignment with Burrows-Wheeler transform'. Bioinformatics.",
    "Virtanen, P. et al. SciPy 1.0: fundamental algorithms for scientific computing in Python. Nat. Methods 17 (2020).",
    'Benjamini, Y., and Hochberg, Y. 1995. "Controlling the False Discovery Rate." Journal of the Royal Statistical '
    "Society, Series B 57: 289–300.",
    "A. H. Castro Neto, F. Guinea, N. M. R. Peres, K. S. Novoselov, and A. K. Geim, The electronic properties of "
    "graphene, Rev. Mod. Phys. 81, 109 (2009).",
    "BOURDIEU Pierre, « Les trois états du capital culturel », Actes de la recherche en sciences sociales, 30, 1979.",
    "Колмогоров А. Н. О представлении непрерывных функций нескольких переменных // Доклады АН СССР. 1957. Т. 114.",
    "OECD (2023). OECD Economic Outlook, Volume 2023 Issue 1. OECD Publishing, Paris.",
    "Donoho, David (2024), 'Data science at the singularity', Harvard Data Science Review.",
]
OTHERS = [
    # nothing but a title that many works have
    "Deep learning",
    "Letter to the editor: Deep learning",
    # other works whose title begins, ends or goes on like a recorded one
    "Reply to: Highly accurate protein structure prediction with AlphaFold",
    "A comment on 'Highly accurate protein structure prediction with AlphaFold': why it fails on RNA",
    "Highly accurate protein structure prediction with AlphaFold for plant genomes",
    "Beyond Deep Residual Learning for Image Recognition: Quaternion Networks for Satellite Imagery.",
    "Polack FP, Thomas SJ, et al. Safety and efficacy of the BNT162b2 mRNA Covid-19 vaccine in adolescents. N Engl J "
    "Med 2021;385:239-50.",
    "Polack FP, et al. Six-month safety and efficacy of the BNT162b2 mRNA Covid-19 vaccine. N Engl J Med 2021",
    "Ronneberger, O. (2016). U-Net++: Nested networks for biomedical image segmentation. MICCAI.",
    "Hanahan D. Hallmarks of cancer: new dimensions. Cancer Discov 2022;12:31-46",
    "Cohen, J. (1992). A power analysis primer for nurses. Nursing Research, 3, 1-2",
    "Deep Learning, Goodfellow I., Bengio Y., Courville A., MIT Press 2016",
    # one word, number or name is another
    "Ioannidis JPA (2005) Why most published research findings are true. PLoS Med 2(8): e124.",
    "Boyd, S., & Vandenberghe, L. (2004). Nonconvex optimization. Cambridge University Press.",
    "Huang C, Wang Y, et al. Clinical features of patients infected with 2019 novel coronavirus in Beijing, China. "
    "Lancet. 2020;395:1-6.",
    "Li H, Durbin R. Fast and accurate long-read alignment with Burrows-Wheeler transform. Bioinformatics 2010;26",
    "Virtanen, P. et al. SciPy 2.0: fundamental algorithms for scientific computing in Python. Nat. Methods 17 (2020).",
    "A. H. Castro Neto et al., The optical properties of graphene, Rev. Mod. Phys. 81, 109 (2009).",
    "OECD (2023). OECD Economic Outlook, Volume 2023 Issue 2. OECD Publishing, Paris.",
    "Wang D. Clinical Characteristics of 183 Hospitalized Patients With 2019 Novel Coronavirus-Infected Pneumonia. "
    "JAMA 2020",
    "Müller, K., & Tanaka, H. (2019). Deep learning. Journal of Imaginary Systems, 4(2), 11-19.",
    "Smith, J. (2016). Deep Residual Learning for Image Recognition and Its Discontents. Journal of Vision, 3, 1-9.",
    "Zhang, W. Deep Residual Learning for Image Recognition in Underwater Robotics. Ocean AI, 2016.",
    # other works of the same people
    "Friedman JH. Stochastic gradient boosting. Comput Stat Data Anal 2002",
    "Piketty, Thomas. Capital in the Twenty-First Century. Harvard University Press, 2014.",
    "Benjamini, Y., & Yekutieli, D. (2001). The control of the false discovery rate in multiple testing under "
    "dependency. Annals of Statistics.",
    "Bourdieu, P. (1986). The forms of capital. In J. Richardson (Ed.), Handbook of Theory.",
    "Jumper, J. et al. Applying and improving AlphaFold at CASP14. Proteins 89, 1711–1721 (2021).",
    "Baden LR, et al. Efficacy and Safety of the mRNA-1273 SARS-CoV-2 Vaccine. N Engl J Med 2021;384:403-416.",
    # a title with a letter of another script, and hardly anything
    "LeCun, Y., Bengio, Y., & Hinton, G. (2015). Dеep learning. Nature, 521(7553), 436-444.",
    "LeCun, Bengio, Hinton",
    "Nature 2015",
]


def verify(citation: str) -> dict[str, Any]:
    return asyncio.run(trust_replay.call(shipped_model(), "verify_citation", {"citation": citation}, WORLD))


@pytest.mark.parametrize("citation", REAL)
def test_a_real_reference_is_confirmed_however_it_is_written(citation: str) -> None:
    said = verify(citation)

    assert (said["exists"], said["verificationStatus"], said["matchConfidence"]) == (True, "confirmed", "high")
    assert not any(one["verdict"] == "mismatch" for one in said["comparison"])
    assert bool(said.get("retractionStatus", {}).get("retracted")) == ("LaCour" in citation)


@pytest.mark.parametrize("citation", OTHERS)
def test_what_is_not_recorded_is_not_confirmed(citation: str) -> None:
    said = verify(citation)

    assert said["exists"] is False
    assert said["verificationStatus"] in {"uncertain", "not_found", "unchecked"}
    assert said["statusReason"]
    assert "matchedRecord" not in said


def test_of_two_works_with_one_title_the_one_is_told_that_agrees_in_more() -> None:
    one = verify("Bohr, N. (1935). Can quantum-mechanical description of physical reality be considered complete?")
    two = verify("Granovetter, Mark. The Strength of Weak Ties.")

    assert one["matchedRecord"]["authors"] == ["N. Bohr"]
    assert two["matchedRecord"]["title"] == "The Strength of Weak Ties"
