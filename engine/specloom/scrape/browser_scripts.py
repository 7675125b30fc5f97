"""What runs inside a page: watching it fall quiet, refusing cookies, scrolling, and taking it as HTML."""

from __future__ import annotations

# Resolves once nothing changed for `quiet` milliseconds, or after `most`.
QUIET = """([quiet, most]) => new Promise(resolve => {
  let timer = setTimeout(done, quiet);
  const watcher = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, quiet); });
  function done() { watcher.disconnect(); resolve(true); }
  watcher.observe(document, {childList: true, subtree: true, characterData: true});
  setTimeout(done, most);
})"""

# Refusing comes first; a button counts only in something that lies over the page or speaks of cookies.
CONSENT = r"""() => {
  const wanted = [
    /^(reject|decline|refuse|deny)( all| optional| non-essential)?( cookies)?$/i,
    /^(only|use|accept)? ?(strictly )?(necessary|essential|required)( cookies)?( only)?$/i,
    /^(alle )?(ablehnen|cookies ablehnen)$|^tout refuser$|^rechazar todo$|^rifiuta tutto$|^nur notwendige/i,
    /^continue without (accepting|consent)/i,
    /^(i )?(accept|agree|allow)( to)?( all)?( cookies)?( & continue| and continue)?$|^got it!?$|^ok(ay)?!?$/i,
    /^(alle )?(akzeptieren|cookies akzeptieren)$|^tout accepter$|^aceptar todo$|^accetta tutto$|^zustimmen$/i,
  ];
  const about = /cookie|consent|privacy|gdpr|datenschutz|tracking|personal data/i;
  const lies = element => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      const over = style.position === "fixed" || style.position === "sticky" || at.matches("dialog, [role=dialog]");
      if (over && about.test(at.innerText || "")) return true;
      if (about.test(at.id + " " + at.className)) return true;
    }
    return false;
  };
  const buttons = [...document.querySelectorAll("button, [role=button], a, input[type=button], input[type=submit]")]
    .slice(0, 2000)
    .map(element => [element, (element.innerText || element.value || "").trim()])
    .filter(([element, text]) => text && text.length <= 40 && element.getClientRects().length);
  for (const pattern of wanted)
    for (const [element, text] of buttons)
      if (pattern.test(text) && lies(element)) { element.click(); return text; }
  return "";
}"""

# The markup of a page that says little, which may be a wall; nothing of a page that says much.
PEEK = """() => {
  const little = document.body && document.body.innerText.length <= 2048;
  return little ? document.documentElement.outerHTML.slice(0, 200000) : "";
}"""

SCROLL = "() => window.scrollTo(0, document.documentElement.scrollHeight)"
EXTENT = (
    """() => [document.body ? document.body.innerText.length : 0, document.documentElement.scrollHeight, innerHeight]"""
)

# Open shadow roots are not part of a document's HTML, so their content is put where it is seen.
TAKE = r"""most => {
  let left = 500;
  const flatten = root => {
    for (const host of root.querySelectorAll("*")) {
      if (!host.shadowRoot || left-- <= 0) continue;
      flatten(host.shadowRoot);
      const inside = document.createElement("div");
      for (const node of host.shadowRoot.childNodes)
        if (!(node instanceof HTMLStyleElement)) inside.appendChild(node.cloneNode(true));
      for (const slot of inside.querySelectorAll("slot")) {
        const name = slot.getAttribute("name");
        const of = node => (node.getAttribute ? node.getAttribute("slot") : null);
        const own = [...host.childNodes].filter(node => of(node) === name);
        if (own.length) slot.replaceWith(...own.map(node => node.cloneNode(true)));
      }
      host.replaceChildren(...inside.childNodes);
    }
  };
  flatten(document);
  const html = "<!DOCTYPE html>" + document.documentElement.outerHTML;
  return html.length > most ? html.slice(0, most) : html;
}"""
