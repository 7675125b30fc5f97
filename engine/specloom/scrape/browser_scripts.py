"""What runs inside a page: muting it, watching it fall quiet, measuring it, scrolling, and taking it as HTML."""

from __future__ import annotations

MUTE = """
for (const name of Object.keys(console)) if (typeof console[name] === "function") console[name] = () => {};
"""

# Resolves once nothing changed for `quiet` milliseconds, or after `most`.
QUIET = """([quiet, most]) => new Promise(resolve => {
  let timer = setTimeout(done, quiet);
  const watcher = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, quiet); });
  function done() { watcher.disconnect(); resolve(true); }
  watcher.observe(document, {childList: true, subtree: true, characterData: true});
  setTimeout(done, most);
})"""

# The markup of a page that says little, which may be a wall; nothing of a page that says much.
PEEK = """() => {
  const little = document.body && document.body.innerText.length <= 2048;
  return little ? document.documentElement.outerHTML.slice(0, 200000) : "";
}"""

# How many characters there are to read, shadow roots and frames without an address included; counted up to `most`.
TEXT = """most => {
  const count = root => {
    let size = root.body ? root.body.innerText.trim().length : root.textContent.trim().length;
    for (const element of root.querySelectorAll("*")) {
      if (size > most) break;
      if (element.shadowRoot) size += count(element.shadowRoot);
      else if (element instanceof HTMLIFrameElement && element.contentDocument) size += count(element.contentDocument);
    }
    return size;
  };
  return document.body ? count(document) : 0;
}"""

SCROLL = "() => window.scrollTo(0, document.documentElement.scrollHeight)"
EXTENT = "() => document.body && [document.body.innerText.length, document.documentElement.scrollHeight, innerHeight]"

# Open shadow roots, and frames without an address of their own, are not part of a document's HTML, so their content is
# put where it is seen.
TAKE = r"""most => {
  let left = 500;
  const flatten = root => {
    for (const frame of root.querySelectorAll("iframe")) {
      const inner = /^(about:|blob:|data:|$)/.test(frame.getAttribute("src") || "") ? frame.contentDocument : null;
      if (!inner || !inner.body || inner.body.innerText.length < 200) continue;
      if (!frame.getClientRects().length || left-- <= 0) continue;
      flatten(inner);
      const inside = document.createElement("div");
      for (const node of inner.body.childNodes) inside.appendChild(document.importNode(node, true));
      frame.replaceWith(inside);
    }
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
