"""Patent numbers and court citations: forms that are only recognised with an office or a reporter of a closed list."""

from __future__ import annotations

import re

# WIPO Standard ST.3 codes of the offices that publish most, and of the two treaties.
_OFFICES = "AT|AU|BE|BR|CA|CH|CN|DE|DK|EP|ES|FI|FR|GB|IE|IL|IN|IT|JP|KR|MX|NL|NO|NZ|PL|RU|SE|SG|TW|UA|US|WO|ZA"
PATENT = re.compile(
    rf"""\bU\.?S\.?\s+(?i:(?:design\s+|plant\s+|reissue\s+)?(?:patent|pat\.)\s*(?:application\s+)?(?:publication\s+)?
        (?:nos?\.?|numbers?)?)\s*
        (?P<us>(?:D|PP|RE)?[0-9]{{1,4}}(?:,[0-9]{{3}}){{1,3}}|[0-9]{{4}}/[0-9]{{7}}|[0-9]{{6,8}})(?![\w,]*[0-9])
    |(?<![\w.-])(?P<office>{_OFFICES})[\s-]?(?P<number>(?:D|PP|RE)?[0-9]{{1,4}}(?:[,/\ ]?[0-9]{{3,7}}){{1,3}})
        [\s-]?(?P<kind>[A-CEHPSTUY][0-9]?)(?![\w])
    |\bpatents\.google\.com/patent/(?P<google>(?:{_OFFICES})[0-9A-Z]{{4,16}})(?![\w])""",
    re.VERBOSE,
)

# Published reporters as The Bluebook (T1) and the courts abbreviate them: the normal form, and whether it is
# distinctive enough to be recognised without a party name or a year beside it.
_REPORTERS = {
    "U.S.": True, "S. Ct.": True, "L. Ed.": True, "L. Ed. 2d": True,
    "F.": False, "F.2d": True, "F.3d": True, "F.4th": True, "F. App'x": True,
    "F. Supp.": True, "F. Supp. 2d": True, "F. Supp. 3d": True, "F.R.D.": True, "Fed. Cl.": True, "B.R.": False,
    "T.C.": False, "A.": False, "A.2d": True, "A.3d": True, "N.E.": False, "N.E.2d": True, "N.E.3d": True,
    "N.W.": False, "N.W.2d": True, "N.W.3d": True, "P.": False, "P.2d": True, "P.3d": True,
    "S.E.": False, "S.E.2d": True, "So.": False, "So. 2d": True, "So. 3d": True,
    "S.W.": False, "S.W.2d": True, "S.W.3d": True,
    "Cal.": False, "Cal. 2d": True, "Cal. 3d": True, "Cal. 4th": True, "Cal. 5th": True,
    "Cal. App.": True, "Cal. App. 2d": True, "Cal. App. 3d": True, "Cal. App. 4th": True, "Cal. App. 5th": True,
    "Cal. Rptr.": True, "Cal. Rptr. 2d": True, "Cal. Rptr. 3d": True,
    "N.Y.": False, "N.Y.2d": True, "N.Y.3d": True, "N.Y.S.": False, "N.Y.S.2d": True, "N.Y.S.3d": True,
    "A.D.": False, "A.D.2d": True, "A.D.3d": True, "Ill. 2d": True, "Ill. App. 3d": True, "Mass.": False,
    "Ohio St. 3d": True, "Wash. 2d": True, "Wis. 2d": True, "Wall.": False, "Cranch": False, "Wheat.": False,
    "Dall.": False, "How.": False,
}  # fmt: skip
_ORDERED = sorted(_REPORTERS, key=len, reverse=True)


def _loose(reporter: str) -> str:
    """A pattern for a reporter however it is spaced; with or without its full stops where it has several."""
    return r"\s?".join(
        re.escape(part).replace(r"\.", r"\.?" if len(reporter) > 2 else r"\.") for part in _parts(reporter)
    )


def _parts(reporter: str) -> list[str]:
    return re.findall(r"[A-Za-z']+\.?|[2-5](?:d|th)", reporter)


_COURTS = (
    r"UKSC|UKHL|UKPC|EWCA\s(?:Civ|Crim)|EWHC|CSIH|CSOH|NICA|HCA|IESC|IEHC|NZSC|NZCA|SGCA|HKCFA|ZACC"  # in brackets
)
CASE = re.compile(
    rf"""(?<![\w.,-])(?:
    (?P<volume>[1-9][0-9]{{0,3}})\s(?P<reporter>{"|".join(f"(?:{_loose(each)})" for each in _ORDERED)})
        \s(?P<page>[1-9][0-9]{{0,4}})(?![\w])
        (?P<after>(?:,\s?[0-9]+(?:[–-][0-9]+)?)*\s?\((?:[^()]{{0,40}}\s)?(?:1[6-9]|20)[0-9]{{2}}\))?
    |(?P<westlaw>(?:19|20)[0-9]{{2}}\s(?:WL\s[0-9]{{4,9}}|U\.S\.\s(?:Dist\.|App\.)\sLEXIS\s[0-9]{{2,7}}))(?![\w])
    |(?P<neutral>\[(?:19|20)[0-9]{{2}}\]\s(?:{_COURTS})\s[1-9][0-9]{{0,4}})(?![\w])
    |(?P<ecli>ECLI:[A-Z]{{2}}:[A-Z0-9]{{1,7}}:[0-9]{{4}}:[A-Z0-9.]{{1,25}}[A-Z0-9])
    )""",
    re.VERBOSE,
)
_PARTIES = re.compile(r"\b(?:v\.?|vs\.?|In re|Ex parte)\s")
_LOOK_BACK = 200


def to_patent(match: re.Match[str]) -> str:
    """The number as its office publishes it, without blanks, commas and strokes: `US7654321B2`, `WO2020123456A1`."""
    if google := match["google"]:
        return google
    if us := match["us"]:
        return "US" + re.sub(r"[,/]", "", us)
    number = re.sub(r"[,/ ]", "", match["number"])
    # The shortest numbers in use have six digits behind the office, with a letter in front of designs.
    return f"{match['office']}{number}{match['kind']}" if len(number) >= 6 else ""


def to_case(match: re.Match[str]) -> str:
    """Volume, reporter and page (`410 U.S. 113`), or the court's own number (`[2019] UKSC 41`); "" when in doubt."""
    if court := match["neutral"] or match["ecli"] or match["westlaw"]:
        return " ".join(court.split())
    reporter = to_reporter(match["reporter"])
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
    if not _REPORTERS[reporter] and not match["after"] and not _PARTIES.search(before):
        return ""
    if "." not in match["reporter"] and "." in reporter and not match["after"] and not _PARTIES.search(before):
        return ""  # "5 US 3" is more often a list than a reporter
    return f"{match['volume']} {reporter} {match['page']}"


def to_reporter(text: str) -> str:
    """The normal form of a reporter however it is spaced, "" for one that is not in the list."""
    bare = re.sub(r"[\s.]", "", text)
    return next((each for each in _REPORTERS if re.sub(r"[\s.]", "", each) == bare), "")


_SIDE = r"(?:[A-Z][\w.'’&-]*|of|the|and|&|ex|rel\.)"
_CAPTION = re.compile(
    rf"[A-Z][\w.'’&-]*(?:,?\s{_SIDE}){{0,7}}\sv\.?(?:\s{_SIDE},?(?=\s)){{1,8}}|In\sre(?:\s{_SIDE}){{1,6}}"
)


def find_parties(text: str) -> str:
    """The name of a case in a citation ("Roe v. Wade"), "" when there is none."""
    match = _CAPTION.search(f"{text} ")
    return re.sub(r"^(?:But\s)?(?:See|Cf\.?|Accord)\s", "", match[0]).strip(" ,") if match else ""
