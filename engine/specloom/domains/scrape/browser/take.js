// The document as HTML of at most `most` characters. Open shadow roots, and frames without an address of their own, are
// not part of a document's HTML, so their content is put where it is seen.
most => {
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
}
