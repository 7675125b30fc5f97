"""What may speak against a claim, by class and language, beside what looks like it and does not."""

import pytest

from specloom.domains.trust.claims.coverage import assess

REST = {
    "en": " The report was printed by the county. Its authors thank all who took part over the years.",
    "de": " Der Bericht wurde vom Landkreis gedruckt. Die Verfasser danken allen, die in den Jahren dabei waren.",
    "fr": " Le rapport fut imprimé par le département. Les auteurs remercient ceux qui ont pris part au projet.",
    "es": " El informe fue impreso por la provincia. Los autores dan las gracias a quienes participaron.",
    "it": " Il rapporto fu stampato dalla provincia. Gli autori ringraziano chi ha preso parte al progetto.",
    "ru": " Отчёт был напечатан в области. Авторы благодарят тех, кто принимал участие в работе за эти годы.",
    "zh": "报告由县里印刷。作者感谢多年来参加工作的人。",
    "ja": "報告書は県が印刷した。著者は長年にわたって協力した人に感謝している。",
}


def kinds(code: str, claim: str, text: str) -> list[str]:
    return [cue.kind for cue in assess(claim, text + REST[code]).cues]


@pytest.mark.parametrize(
    ("code", "claim", "text", "kind"),
    [
        (
            "en",
            "Otters cause floods.",
            "The data are strong evidence against the hypothesis that otters cause floods.",
            "negation",
        ),
        (
            "en",
            "Floods are caused by otters.",
            "Engineers explain floods by heavy rain rather than by otters.",
            "negation",
        ),
        ("en", "The keepers saw no otters at the weir.", "The keepers saw six otters at the weir.", "negation"),
        ("en", "The otters moved to the north.", "The otters moved to the south.", "opposite"),
        ("en", "The number of otters also rose in Ohio.", "In Ohio the number of otters was constant.", "opposite"),
        ("en", "Weasels drowned more often than otters.", "Otters drowned far more often than weasels.", "direction"),
        (
            "en",
            "Drowning was less frequent with otters than with weasels.",
            "Drowning occurred in 8.6 percent of the otters and in 6.2 percent of the weasels.",
            "direction",
        ),
        ("en", "The risk ratio of the otters was 1.92.", "The risk ratio of the otters was 0.92.", "number"),
        ("en", "The otter slept for 15 hours.", "The otter slept for 15 minutes.", "number"),
        ("en", "The weir was opened on 2 June 1953.", "The weir was opened on 29 May 1953.", "number"),
        ("de", "Die Zahl der Otter nahm am Wehr zu.", "Die Zahl der Otter nahm am Wehr um 76 Prozent ab.", "direction"),
        ("de", "Die Otter leben im Norden des Landes.", "Die Otter leben im Süden des Landes.", "opposite"),
        ("de", "Marder schlafen länger als Otter.", "Otter schlafen länger als Marder.", "direction"),
        (
            "fr",
            "Les loutres ont été plus souvent malades que les castors.",
            "Les loutres ont été moins souvent malades que les castors.",
            "direction",
        ),
        (
            "fr",
            "La durée du sommeil des loutres a augmenté.",
            "La durée du sommeil des loutres est passée de 11 à 5 heures.",
            "direction",
        ),
        ("es", "La cifra de nutrias del río disminuyó.", "La cifra de nutrias del río aumentó mucho.", "direction"),
        ("es", "Las nutrias duermen diez segundos.", "Las nutrias duermen diez minutos.", "number"),
        ("it", "La diga fu aperta il 3 agosto 2016.", "La diga fu aperta il 14 agosto 2018.", "number"),
        ("it", "Le lontre sono più lente delle martore.", "Le martore sono più lente delle lontre.", "direction"),
        ("ru", "Около 370 тысяч выдр живут на реке.", "Около 37 тысяч выдр живут на реке.", "number"),
        ("ru", "Численность выдр на реке увеличилась.", "Численность выдр на реке сократилась.", "direction"),
        ("zh", "百分之三十一的水獭住在河边。", "百分之六十一的水獭住在河边。", "number"),
        ("zh", "河边的水獭数量增加了。", "河边的水獭数量减少了。", "direction"),
        ("ja", "川のカワウソの数は増えた。", "川のカワウソの数は減った。", "direction"),
        ("ja", "カワウソの四割が川に住む。", "カワウソの七割が川に住む。", "number"),
    ],
)
def test_what_speaks_against_a_claim_is_found_in_its_language(code, claim, text, kind):
    assert kind in kinds(code, claim, text)


@pytest.mark.parametrize(
    ("code", "claim", "text"),
    [
        # The right number stands in the next clause, and a bound or a rounded number is no other one.
        (
            "en",
            "A breach can cost 4 percent of turnover.",
            "A late report can cost up to 2 percent of turnover; a breach can cost 4 percent of turnover.",
        ),
        ("en", "More than 90 percent of the otters came back.", "91.6 percent of the otters came back."),
        ("ru", "Вернулось более 90 процентов выдр.", "Вернулось 91,6 процента выдр."),
        # Both sides say the same with the sides exchanged.
        ("en", "Weasels drowned less often than otters.", "Otters drowned more often than weasels."),
        (
            "fr",
            "Les castors ont été plus souvent malades que les loutres.",
            "Les loutres ont été moins souvent malades que les castors.",
        ),
        # A bound is no comparative.
        (
            "fr",
            "Le nombre de loutres a été réduit dans le parc.",
            "Le nombre de loutres a été réduit dans le parc de plus de vingt bassins.",
        ),
        # What is denied is a lack, or a difference that the claim does not speak of.
        ("en", "The otters are still there.", "The otters have not disappeared from there."),
        ("ru", "Выдры были так же быстры.", "Выдры были не медленнее, чем куницы."),
        # The claim denies as its source does.
        (
            "en",
            "There is evidence against the hypothesis that otters cause floods.",
            "The data are strong evidence against the hypothesis that otters cause floods.",
        ),
        # A word that both have says nothing about either.
        (
            "it",
            "Il livello elevato del fiume era legato a un numero inferiore di lontre.",
            "Il livello elevato del fiume era associato a un numero minore di lontre.",
        ),
        ("zh", "河边的水獭没有消失。", "河边的水獭没有消失。"),
    ],
)
def test_what_only_looks_like_a_contradiction_is_none(code, claim, text):
    assert kinds(code, claim, text) == []


def test_a_sentence_that_has_the_claim_as_it_is_outweighs_others():
    text = "Otters sleep at noon. Old otters do not sleep at noon in the northern lakes." + REST["en"]

    assert assess("Otters sleep at noon.", text).cues == ()


def test_both_sides_of_a_direction_that_only_numbers_tell_are_shown():
    [cue] = assess(
        "Drowning was less frequent with otters than with weasels.",
        "Drowning occurred in 8.6 percent of the otters and in 6.2 percent of the weasels." + REST["en"],
    ).cues

    assert (cue.claimed, cue.found) == ("less than with weasels", "8.6 : 6.2")
