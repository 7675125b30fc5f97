"""Pages that only a browser can read, through scrape_page and a client: from the script to the Markdown."""

from __future__ import annotations

from tests.support.browser import needs_browser, page
from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_client import ask, connected, refused
from tests.support.scrape_context import HTML

PROSE = (
    "The kiln was lit at dawn, and for nine hours the potter fed it with split pine while the glaze slowly turned.",
    "By evening the cones had fallen, so she closed the damper, stacked the bricks and let the whole chamber cool.",
    "Opening it the next morning took patience, because a draught of cold air is enough to crack a fresh bowl.",
)
STORY = "<article><h1>Firing a kiln</h1>" + "".join(f"<p>{text}</p>" for text in PROSE) + "</article>"
APP = page("<div id=root></div>", f"setTimeout(() => root.innerHTML = `{STORY}`, 100)")
WALL = page(
    "<div id=consent style='position:fixed;inset:0'><p>We value your privacy.</p>"
    "<button onclick='go(1)'>Accept all</button><button onclick='go(0)'>Reject all</button></div><div id=root></div>",
    f"function go(yes) {{ consent.remove(); root.innerHTML = yes ? 'tracked' : `{STORY}` }}",
)
ENDLESS = page(
    "<main id=root></main>",
    """
    let n = 0;
    function more() { for (let i = 0; i < 5; i++) {
      const item = document.createElement("article"); item.style.height = "300px";
      item.innerHTML = `<h2>Entry ${n++}</h2><p>The kiln was fired for the ${n}th time, and the glaze was fine.</p>`;
      root.append(item); } }
    more(); addEventListener("scroll", () => setTimeout(more, 50));
    """,
)
PAGES = {
    "/app": APP,
    "/wall": WALL,
    "/endless": ENDLESS,
    "/private": page("<div id=root></div>", "location.href = 'http://169.254.169.254/latest/'"),
    "/nothing": page("<div id=root></div>", "root.innerHTML = ''"),
}


@needs_browser
async def test_what_a_script_writes_is_read_and_what_it_may_not_reach_is_refused() -> None:
    def reply(call: Call) -> Reply:
        return (200, HTML, PAGES[call.path]) if call.path in PAGES else (404, HTML, "")

    with Loopback(reply) as server:
        async with connected(CHROME_PATH="") as client:
            app = await ask(client, "scrape_page", url=server.url + "/app")
            wall = await ask(client, "scrape_page", url=server.url + "/wall")
            endless = await ask(client, "scrape_page", url=server.url + "/endless")
            sentence, private = await refused(client, "scrape_page", url=server.url + "/private")
            _, nothing = await refused(client, "scrape_page", url=server.url + "/nothing")

    for said in (app, wall):
        assert (said["extractedBy"], said["contentType"]) == ("browser", "html")
        assert all(text in said["content"] for text in PROSE)
    assert app["content"].startswith("# Firing a kiln")
    assert "tracked" not in wall["content"]
    assert "privacy" not in wall["content"]
    assert 6 <= endless["content"].count("## Entry") <= 60
    assert private["kind"] == "validation"
    assert "cloud metadata" in sentence
    assert nothing["kind"] == "content_empty"
    assert "browser: " in nothing["detail"]


async def test_where_no_browser_follows_a_route_the_page_is_told_to_be_without_it() -> None:
    with Loopback(lambda call: (200, HTML, page(STORY))) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url + "/app#/docs/install")
            part = await ask(client, "scrape_page", url=server.url + "/app#install")

    assert said["extractionQuality"] == "partial"
    assert "This is the page without #/docs/install, which only a browser can follow." in said["sparsityWarning"]
    assert part["extractionQuality"] == "complete"
    assert "which only a browser" not in part.get("sparsityWarning", "")
