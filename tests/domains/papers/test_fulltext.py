"""Texts of preprints: renderings by sections, and bundles of TeX from anybody, read in a process that can be ended."""

from __future__ import annotations

import asyncio
import gzip
import io
import tarfile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.domains.papers.fulltext import cut
from specloom.domains.papers.provenance_log import verify
from specloom.domains.scrape.documents import tex_source
from specloom.domains.scrape.documents.tex_source import BundleError, read_bundle
from specloom.domains.scrape.excerpt import split_sections
from tests.support.paper_store import World

if TYPE_CHECKING:
    from tests.support.paper_store import Turns

ID = "2401.12345"
RENDERING, SOURCE = f"ar5iv.labs.arxiv.org/html/{ID}", f"export.arxiv.org/src/{ID}"
DOCUMENT = "\\documentclass{article}\n\\begin{document}\n%s\n\\end{document}\n"


def page(paragraphs: int = 1) -> Any:
    prose = "<p>Otters swim where the water is shallow, and a little slower where it is deep and cold.</p>" * paragraphs
    return 200, {}, f"<html><body><article><h1>How otters swim</h1><h2>Results</h2>{prose}</article></body></html>"


def archive(files: dict[str, bytes | str], **kinds: bytes) -> bytes:
    """A gzipped tar with these files; `kinds` are entries that are no files, by name."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, kind in kinds.items():
            entry = tarfile.TarInfo(f"{name}.tex")
            entry.type, entry.linkname = kind, "/etc/passwd"
            tar.addfile(entry)
        for name, body in files.items():
            data = body.encode() if isinstance(body, str) else body
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


# --- renderings ---------------------------------------------------------------------------------------------------


def test_a_rendering_is_read_and_written_down_and_nothing_is_kept(world: World) -> None:
    world.pages[RENDERING] = page()

    told = world.call("paper_text", ref=f"arXiv:{ID}")

    assert (told["title"], told["source"], told["arxiv_id"]) == ("How otters swim", "ar5iv", ID)
    assert [one["heading"] for one in told["sections"]] == ["Results"]
    assert told["char_count"] == len(told["sections"][0]["text"])
    assert told["retrieved_from"] == f"https://{RENDERING}"
    assert [(row["event"], row["source"], row["result"]) for row in world.rows()] == [
        ("session_start", None, "ok"),
        ("fetch", "ar5iv", "ok"),
        ("session_end", None, "ok"),
    ]
    assert verify(world.log).problem == ""
    assert not world.root.exists()


def test_a_large_rendering_is_read_in_a_process_of_its_own(world: World) -> None:
    world.pages[RENDERING] = page(2000)

    told = world.call("paper_text", ref=ID, max_chars=200)

    assert (told["char_count"], told["truncated"]) == (200, True)


@pytest.mark.parametrize(
    ("reply", "code", "reason"),
    [
        ((404, {}, b""), "NOT_FOUND", None),
        ((307, {"Location": f"https://arxiv.org/abs/{ID}"}, b""), "NOT_FOUND", None),
        ((302, {"Location": "https://elsewhere.example.com/"}, b""), "CAPABILITY_DENIED", "redirect_not_in_allowlist"),
        ((200, {}, b"<html><body></body></html>"), "TEXT_UNAVAILABLE", None),
        ((429, {"Retry-After": "7"}, b""), "RATE_LIMITED", None),
        ((503, {}, b""), "NETWORK_ERROR", None),
    ],
)
def test_what_keeps_a_rendering_away_has_its_code(world: World, reply: Any, code: str, reason: str | None) -> None:
    world.pages[RENDERING] = reply

    told = world.call("paper_text", ref=ID)

    assert (told["ref"], told["error"]["code"]) == (ID, code)
    assert told["error"].get("denial_context", {}).get("reason") == reason
    assert world.rows()[-1]["error_code"] == code
    assert all(url.startswith("https://ar5iv.labs.arxiv.org/") for url in world.asked)


@pytest.mark.parametrize("tool", ["paper_text", "paper_tex_source"])
def test_only_preprints_have_a_text_and_nobody_is_asked_for_another(world: World, tool: str) -> None:
    assert world.call(tool, ref="10.1234/otters")["error"]["code"] == "NOT_IMPLEMENTED"
    assert world.call(tool, ref="pmid:12345")["error"]["code"] == "INVALID_REF"
    assert world.asked == []


@pytest.mark.parametrize("tool", ["paper_text", "paper_tex_source"])
def test_without_a_log_no_text_is_asked_for(world: World, tool: str) -> None:
    (world.folder / "log").write_text("in the way", "utf-8")

    assert world.call(tool, ref=ID)["error"]["code"] == "LOG_ERROR"
    assert world.asked == []


def test_sections_are_split_at_headings_and_not_in_code() -> None:
    code = "```\n# no heading\n~~~\n```"
    text = f"# Title\n\nBy Ann\n\n## 1 One\n\n### 1.1 Deep\n\nText\n\n{code}\n\n## 2 Two\n\n## 3 Three\n\nEnd"

    assert split_sections(text) == (
        "Title",
        [
            {"heading": "", "text": "By Ann"},
            {"heading": "1 One", "text": ""},
            {"heading": "1.1 Deep", "text": f"Text\n\n{code}"},
            {"heading": "3 Three", "text": "End"},
        ],
    )


@given(st.lists(st.text(max_size=20), max_size=6), st.integers(1, 60))
def test_a_cut_keeps_just_as_many_characters_as_are_wanted(bodies: list[str], most: int) -> None:
    sections = [{"heading": "h", "text": body} for body in bodies]

    kept, truncated = cut(sections, most)

    whole, told = "".join(bodies), "".join(one["text"] for one in kept)
    assert told == whole[:most]
    assert truncated == (len(kept) < len(sections) or told != whole)
    assert cut(sections, None) == (sections, False)


# --- sources ------------------------------------------------------------------------------------------------------


def test_a_source_is_one_text_of_all_its_files(world: World, turns: Turns) -> None:
    files = {
        "figures/otter.png": b"\x89PNG",
        "intro.tex": "Otters \\input{parts/deep} swim.",
        "parts/deep.tex": "often",
        "ms.tex": DOCUMENT % "\\input{intro}\n% \\input{intro}\n50\\% \\include{gone}",
    }
    world.pages[SOURCE] = 200, {"Content-Type": "application/gzip"}, archive(files)

    told = world.call("paper_tex_source", ref=ID)

    assert told["main_file"] == "ms.tex"
    assert told["tex_source"] == DOCUMENT % "Otters often swim.\n% \\input{intro}\n50\\% \\include{gone}"
    assert (told["char_count"], told["truncated"]) == (len(told["tex_source"]), False)
    assert [row["source"] for row in world.rows()] == [None, "arxiv", None]
    assert not world.root.exists()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"%PDF-1.7 otters", "the authors sent a PDF"),
        (gzip.compress(b"%PDF-1.7 otters"), "the authors sent a PDF"),
        (gzip.compress(b"%!PS-Adobe-2.0 \\def"), "no file of the bundle is TeX"),
        (gzip.compress(b"\0\1\2"), "neither an archive nor a text"),
        (gzip.compress(b"\\documentclass{a}" * 1000)[:-20], "the bundle is damaged"),
        (archive({"a.tex": DOCUMENT})[:-60], "the bundle is damaged"),
        (archive({"data.csv": "1,2"}), "the bundle has no TeX file"),
        (archive({"../a.tex": DOCUMENT, "/b.tex": DOCUMENT, "c\\d.tex": DOCUMENT}), "the bundle has no TeX file"),
        (archive({}, link=tarfile.SYMTYPE, hard=tarfile.LNKTYPE, pipe=tarfile.FIFOTYPE), "the bundle has no TeX file"),
    ],
    ids=["pdf", "packed pdf", "packed text", "packed bytes", "cut gzip", "cut tar", "no tex", "paths", "links"],
)
def test_a_bundle_without_tex_says_why(world: World, body: bytes, sentence: str) -> None:
    world.pages[SOURCE] = 200, {}, body

    told = world.call("paper_tex_source", ref=ID)

    assert told["error"]["code"] == "TEXT_UNAVAILABLE"
    assert sentence in told["error"]["message"]
    assert world.rows()[-2]["error_code"] == "TEXT_UNAVAILABLE"


def test_a_link_among_files_is_passed_over() -> None:
    assert read_bundle(archive({"a.tex": "x"}, link=tarfile.SYMTYPE)) == {"a.tex": "x"}


def test_the_bounds_of_a_bundle_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(b"\\input " + b" " * 3_000_000)
    monkeypatch.setattr(tex_source, "MOST_TEXT", 1_000_000)
    with pytest.raises(BundleError, match="more than 1000000 bytes"):
        read_bundle(bomb)
    with pytest.raises(BundleError, match="more than 1000000 bytes"):
        read_bundle(archive({"a.tex": "x" * 600_000, "b.tex": "x" * 600_000}))

    monkeypatch.setattr(tex_source, "MOST_BYTES", 2_000_000)
    with pytest.raises(BundleError, match="unpacks to more than 2000000 bytes"):
        read_bundle(archive({"a.bin": b"\0" * 3_000_000, "b.tex": DOCUMENT}))

    monkeypatch.setattr(tex_source, "MOST_FILES", 3)
    with pytest.raises(BundleError, match="more than 3 files"):
        read_bundle(archive({f"{at}.tex": "x" for at in range(4)}))


def test_a_bundle_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tex_source, "SECONDS", 0.0)

    with pytest.raises(Fault, match="the bundle needs more time or memory than it may take") as caught:
        asyncio.run(tex_source.read_source(archive({"a.tex": DOCUMENT}), apart=True))

    assert caught.value.kind == "content_empty"


def test_a_process_that_cannot_be_started_is_no_fault_of_the_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specloom.core.process.sys", SimpleNamespace(executable="/no/such/interpreter"))

    with pytest.raises(Fault, match="No process could be started to read the source: No such file") as caught:
        asyncio.run(tex_source.read_source(archive({"a.tex": DOCUMENT}), apart=True))

    assert caught.value.kind == "internal"


def test_a_process_of_its_own_tells_what_this_one_would() -> None:
    bundle = archive({"a.tex": DOCUMENT % "Ötters \ud7ff"})

    assert asyncio.run(tex_source.read_source(bundle, apart=True)) == asyncio.run(
        tex_source.read_source(bundle, apart=False)
    )


def test_files_that_take_each_other_in_end() -> None:
    texts = {"main.tex": DOCUMENT % "\\input{a}", "a.tex": "A\\input{b}", "b.tex": "B\\input{a.tex}\\input main "}

    main, whole = tex_source.assemble(texts)

    assert (main, whole) == ("main.tex", DOCUMENT % "AB\\input{a.tex}\\input main ")


def test_a_text_that_would_grow_without_end_stays_as_long_as_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tex_source, "MOST_TEXT", 100_000)
    texts = {f"{name}.tex": f"\\input{{{taken}}}" * 20 for name, taken in ("ab", "bc", "cd")} | {"d.tex": "x" * 500}

    assert len(tex_source.assemble({**texts, "main.tex": DOCUMENT % "\\input{a}"})[1]) < 200_000


@pytest.mark.parametrize(
    ("texts", "main"),
    [
        ({"a.tex": "\\begin{document}", "b.tex": "\\documentclass{x}\\begin{document}"}, "b.tex"),
        ({"a.tex": "% \\documentclass{x}\n\\begin{x}", "b.tex": "\\documentstyle{x}"}, "b.tex"),
        ({"reply.tex": DOCUMENT, "main.tex": DOCUMENT}, "main.tex"),
        ({"old/paper.tex": DOCUMENT, "paper.tex": DOCUMENT}, "paper.tex"),
        ({"a.tex": "\\def\\x{1}", "b.tex": "\\def\\x{1} and more\\bye"}, "b.tex"),
        ({"a.tex": "no commands"}, ""),
    ],
)
def test_the_main_file_is_the_one_that_begins_a_document(texts: dict[str, str], main: str) -> None:
    assert tex_source.find_main(texts) == main


def check(bundle: bytes) -> None:
    """A bundle is a main file with a text, or a fault that names the reason."""
    try:
        main, text = tex_source.read_here(bundle)
    except Fault as fault:
        main, text = fault.kind, fault.message
    assert main == "content_empty" if text.startswith("There is no TeX source") else main


@given(st.binary(max_size=2000), st.booleans())
def test_any_bytes_are_texts_or_a_reason(body: bytes, packed: bool) -> None:
    check(gzip.compress(body) if packed else body)


@given(st.data())
def test_a_damaged_archive_is_texts_or_a_reason(data: st.DataObject) -> None:
    raw = bytearray(gzip.decompress(archive({"a.tex": DOCUMENT, "b/c.tex": "x" * 700})))
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, 3000))] = data.draw(st.integers(0, 255))

    check(bytes(raw))


def test_notes_of_a_file_system_beside_a_text_are_passed_over() -> None:
    files = {"._main.tex": b"\0\5\x16\7\0Mac OS X", "main.tex": b"\\documentclass{a} \x93Otters\x94 caf\xe9 \x81"}

    assert list(read_bundle(archive(files))) == ["main.tex"]


@pytest.mark.parametrize(
    ("body", "text"), [(b"\x93caf\xe9\x94", "“café”"), (b"caf\xe9\x81", "café\x81"), ("ﬁ “é”".encode(), "ﬁ “é”")]
)
def test_a_text_that_is_no_utf_8_is_one_of_windows(body: bytes, text: str) -> None:
    assert list(read_bundle(body).values()) == [text]


@pytest.mark.parametrize("name", ["koi8-r", "cp1251", "maccyr", "utf8"])
def test_texts_are_read_in_the_encoding_that_one_of_them_says(name: str) -> None:
    codec = tex_source.ENCODINGS.get(name, "utf-8")
    main = f"\\documentclass{{a}}\n% \\usepackage[latin2]{{inputenc}}\n\\usepackage[{name}]{{inputenc}}\n\\input{{a}}"

    texts = read_bundle(archive({"a.tex": "Выдры".encode(codec), "main.tex": main}))

    assert texts["a.tex"] == "Выдры"


@pytest.mark.parametrize("name", sorted(tex_source.ENCODINGS))
def test_every_encoding_is_one_of_letters(name: str) -> None:
    assert b"a".decode(tex_source.ENCODINGS[name]) == "a"
