"""What says the reverse of a claim without denying it, and what only seems to."""

from __future__ import annotations

import pytest

from specloom.domains.trust.claims.coverage import assess

REST = " The report was printed by the county and paid for by a public fund. Its authors thank all who took part."


def kinds(claim: str, text: str) -> list[str]:
    return [cue.kind for cue in assess(claim, text).cues]


@pytest.mark.parametrize(
    ("claim", "text", "kind"),
    [
        # An opposite word in the clause that has all of the claim, beside another clause with the claim's own word.
        (
            "Spending on sugary drinks went up.",
            "Spending on fresh fruit went up, and spending on sugary drinks declined." + REST,
            "direction",
        ),
        ("The motion of the otter club was approved.", "The motion of the otter club was rejected." + REST, "opposite"),
        ("The otter census is mandatory.", "The otter census is voluntary." + REST, "opposite"),
        ("The otter test came out positive.", "The otter test came out negative." + REST, "opposite"),
        (
            "Die Otterfreunde gewannen den Prozess.",
            "Die Otterfreunde verloren den Prozess gegen die Stadt.",
            "opposite",
        ),
        ("Il museo delle lontre è gratuito.", "Il museo delle lontre è a pagamento tutti i giorni.", "opposite"),
        # A beginning that makes another word of a word.
        ("Trapping otters is legal in the county.", "Trapping otters is illegal in the county." + REST, "opposite"),
        (
            "Проезд по новому мосту законный.",
            "Проезд по новому мосту незаконный, и это решение было первым.",
            "opposite",
        ),
        # Opposite words that count before the same word only.
        ("The dam broke after the flood.", "The dam broke before the flood." + REST, "opposite"),
        (
            "Le pont a été ouvert un mois après la date prévue.",
            "Le pont a été ouvert à la circulation un mois avant la date prévue.",
            "opposite",
        ),
        # What did not change, where it is said to have.
        (
            "The number of farmed bees rose.",
            "Wild bees were twice as many, while the number of farmed bees did not change." + REST,
            "negation",
        ),
        (
            "Les résultats des élèves ont augmenté.",
            "Les résultats des élèves n'ont pas changé depuis la loi.",
            "negation",
        ),
        # A comparison by its degree: what is more low is less.
        (
            "I punteggi del Nord erano più bassi di quelli del Sud.",
            "I punteggi del Nord erano più alti di quelli del Sud.",
            "direction",
        ),
        (
            "El jarabe redujo la tos más que la miel.",
            "La miel redujo la tos más que el jarabe en los niños.",
            "direction",
        ),
        ("雌は雄より広い範囲を動いた。", "雄は雌より広い範囲を動いた。調査は沖縄の海で行われた。", "direction"),
        ("定频空调的家庭比变频空调的家庭用电少。", "变频空调的家庭比定频空调的家庭用电少百分之二十五。", "direction"),
        # The numbers of two sides, of which the second leaves out its unit.
        (
            "A trip by train takes longer than by car.",
            "A trip by train takes seven minutes, and one by car ten." + REST,
            "direction",
        ),
        # None of what is counted, and a denial over a list.
        (
            "The radio operators received no warnings of ice.",
            "The radio operators received six warnings of ice." + REST,
            "negation",
        ),
        (
            "Microcredit empowered women.",
            "Microcredit had no effect on health, education or women's empowerment." + REST,
            "negation",
        ),
        # Another month of a year, and numbers that are written as one word.
        ("運送は二〇二二年四月から始まった。", "運送は二〇二四年四月から一部の地域で始まった。", "number"),
        ("Lo studio sui castori è durato ventidue anni.", "Lo studio sui castori è durato dodici anni.", "number"),
    ],
)
def test_the_reverse_of_a_claim_is_found(claim, text, kind):
    assert kind in kinds(claim, text)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        # Turned round in both halves, in words or by who it is said of.
        ("In the south the water was dirtier.", "In the north the water was cleaner." + REST),
        ("В южных районах вода была грязнее.", "В северных районах вода была чище, чем в южных."),
        ("Gli impiegati erano più favorevoli dei dirigenti.", "I dirigenti erano meno favorevoli degli impiegati."),
        (
            "Les autres élèves ont moins progressé en lecture que ceux des classes dédoublées.",
            "Ceux des classes dédoublées ont progressé davantage en lecture que les autres.",
        ),
        (
            "The link between homework and marks was weaker in the lower grades.",
            "The link between homework and marks was stronger in grades 7 to 12 than in the lower grades." + REST,
        ),
        (
            "The rate of stroke was higher with regular salt.",
            "The rate of stroke was lower with potassium salt." + REST,
        ),
        ("Ohne Herdenschutz werden mehr Schafe gerissen.", "Herdenschutz verringert die Zahl der gerissenen Schafe."),
        ("Ледовый период раньше был длиннее.", "За последние десятилетия ледовый период стал короче."),
        ("People with low salt intake had more falls.", "Salt intake was associated with less falls." + REST),
        # A denied change or difference, a denied opposite, and what is not over yet.
        ("The diseases of the mice were the same.", "The diseases of the mice did not differ." + REST),
        ("Через год разница в оценках осталась прежней.", "Через год разница в оценках не изменилась."),
        ("I lavori del ponte non sono costati più del previsto.", "I lavori del ponte sono costati meno del previsto."),
        ("Il processo è ancora in corso.", "Il processo non si è ancora concluso."),
        # Bounds and a number of the past that only look like a direction.
        (
            "Alle Plätze liegen höchstens 30 Meter vom Dirigenten entfernt.",
            "Kein Platz ist weiter als 30 Meter vom Dirigenten entfernt.",
        ),
        ("Le nombre de loups a diminué en un an.", "Le nombre de loups est de 1 013, contre 1 104 un an plus tôt."),
        # Derived numbers: the rest of a whole, equal parts, the year before.
        (
            "18 percent of the children had not received the vaccine.",
            "82 percent of the children had received the vaccine." + REST,
        ),
        ("Each group had twenty patients.", "Forty patients were divided into two equal groups." + REST),
        ("En 2017 leía libros el 59 por ciento.", "Lee libros el 64 por ciento, cinco puntos más que en 2017."),
        (
            "Five of the companies did not go on.",
            "Sixty-one companies took part. Fifty-six of the companies went on." + REST,
        ),
        # Where the words of a claim stand in the text, nothing in their sentence is set against them.
        ("Le gaspillage a diminué de 12 %.", "Le gaspillage a diminué de 12 %, et le coût est resté stable."),
        # Up to the mark, and no farther, reaches what is replaced.
        (
            "81 percent of the students came three days.",
            "Instead of five days, 81 percent of the students came three days." + REST,
        ),
    ],
)
def test_what_says_the_same_in_other_words_is_not_set_against_a_claim(claim, text):
    assert kinds(claim, text) == []
