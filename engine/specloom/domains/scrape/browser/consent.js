// Presses a button of a consent wall; gives what was pressed, or "". A button counts where it is a framework's own, or in
// something that lies over the page or is named for consent; in the frame of a wall (`whole`), everywhere.
([refusing, accepting, labels, about, whole]) => {
  const speaks = new RegExp(about, "i");
  const elements = [];
  const collect = root => {
    for (const element of root.querySelectorAll("*")) {
      if (elements.length >= 20000) return;
      elements.push(element);
      if (element.shadowRoot) collect(element.shadowRoot);
    }
  };
  collect(document);
  const textOf = element => (element.innerText || element.value || element.textContent || "").trim();
  if (whole && !speaks.test(document.body ? document.body.innerText : "")) return "";
  const seen = element => element.getClientRects().length && !element.disabled;
  const up = at => at.parentElement || (at.getRootNode().host ?? null);
  const lies = (element, leads) => {
    if (whole) return true;
    for (let at = element; at && at !== document.body && at !== document.documentElement; at = up(at)) {
      const style = getComputedStyle(at);
      const over = style.position === "fixed" || style.position === "sticky"
        || at.matches("dialog, [role=dialog], [role=alertdialog], [aria-modal=true]");
      if (over && speaks.test(textOf(at))) return true;
      if (!leads && speaks.test(at.id + " " + (at.getAttribute("class") || ""))) return true;
    }
    return false;
  };
  const press = (element, label) => { element.click(); return label || "pressed"; };
  const named = selectors => elements.find(element => element.matches(selectors) && seen(element));
  const trimmed = text => text.toLowerCase().replace(/\s+/g, " ").replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  const buttons = elements
    .filter(element => element.matches("button, [role=button], a, input[type=button], input[type=submit]"))
    .map(element => [element, trimmed(textOf(element))])
    .filter(([element, text]) => text && text.length <= 50 && seen(element));
  const written = label => {
    const pattern = new RegExp(label, "u");
    return buttons.find(([element, text]) => pattern.test(text) && lies(element, leadsOn(element)));
  };
  const leadsOn = element => element.tagName === "A" && element.pathname && element.pathname !== location.pathname;
  const refuse = named(refusing);
  if (refuse) return press(refuse, "refused");
  for (const label of labels.slice(0, 2)) { const found = written(label); if (found) return press(...found); }
  const accept = named(accepting);
  if (accept) return press(accept, "accepted");
  for (const label of labels.slice(2)) { const found = written(label); if (found) return press(...found); }
  return "";
}
