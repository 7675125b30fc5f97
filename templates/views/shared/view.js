"use strict";
// What every view is drawn with. Texts enter as text nodes alone, links lead to http and https alone, nothing is asked.
// A frame of a client gives what fills the slots (MCP Apps, 2026-01-26); a document that stands alone has it in itself.
const specloom = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const root = document.documentElement;
  const main = document.getElementById("view");
  const held = document.getElementById("view-data");
  const framed = !held && window.parent !== window;
  let draw = null, filled = null, number = 0, pageSize = framed ? 10 : Infinity;

  // --- elements ---
  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
      else if (!/^(on|href|src|style|xlink|action|formaction)/i.test(name)) node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child !== undefined && child !== null && child !== false) node.append(child instanceof Node ? child : String(child));
    }
    return node;
  }
  const SAFE = new Set("a abbr article aside b bdi br button caption code dd details dialog div dl dt em figcaption figure footer h2 h3 h4 header hr i img input label li main mark nav ol option p pre s section select small span strong sub summary sup table tbody td th thead time tr ul".split(" "));
  const el = (tag, attributes, ...children) => {
    if (!SAFE.has(tag)) throw new Error("a view has no element " + tag);
    return fill(document.createElement(tag), attributes, children);
  };
  const SHAPES = new Set("svg g path circle rect line polyline polygon text tspan title desc ellipse clipPath defs".split(" "));
  const svg = (tag, attributes, ...children) => {
    if (!SHAPES.has(tag)) throw new Error("a view has no shape " + tag);
    return fill(document.createElementNS(SVG, tag), attributes, children);
  };
  const quote = (text) => el("bdi", {}, text);
  function web(address) {
    try {
      const url = new URL(String(address));
      return url.protocol === "https:" || url.protocol === "http:" ? url.href : "";
    } catch { return ""; }
  }
  function open(address) {
    const url = web(address);
    if (!url) return;
    if (framed) ask("ui/open-link", { url });
    else window.open(url, "_blank", "noopener,noreferrer");
  }
  function link(address, ...children) {
    const url = web(address);
    if (!url) return el("span", {}, children);
    const node = el("a", { rel: "noreferrer noopener nofollow", target: "_blank" }, children);
    node.href = url;
    if (framed) node.addEventListener("click", (event) => { event.preventDefault(); open(url); });
    return node;
  }
  function image(data, alt) {
    // Only what is in the document itself: a view asks nobody.
    if (!/^data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/=]+$/.test(data || "")) return null;
    const node = el("img", { alt, loading: "lazy" });
    node.src = data;
    return node;
  }
  const format = (value, digits = 2) => new Intl.NumberFormat("en", { maximumFractionDigits: digits }).format(value);
  const short = (text, most) => (text.length > most ? text.slice(0, most - 1).trimEnd() + "…" : text);
  const host = (address) => { try { return new URL(address).hostname.replace(/^www\./, ""); } catch { return ""; } };
  const facts = (pairs) => {
    const shown = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
    return shown.length ? el("dl", { class: "facts" }, shown.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value instanceof Node ? value : quote(value))])) : null;
  };
  const badge = (text, mark) => el("span", { class: "badge " + (mark || "") }, text);
  const empty = (text) => el("p", { class: "empty" }, text);
  const color = (at) => `var(--c${(at % 6) + 1})`;

  // --- a table that is sorted by its heads, searched and paged ---
  function table(caption, columns, rows, options = {}) {
    let shown = rows, page = 0, order = -1, down = false;
    const body = el("tbody");
    const status = el("span", { class: "soft", role: "status" });
    const heads = columns.map((column, at) => {
      const button = el("button", { type: "button", on: { click: () => sort(at) } }, column.label);
      return el("th", { scope: "col", class: column.number && "number" }, rows.length > 1 && column.value ? button : column.label);
    });
    const size = () => Math.min(pageSize, options.size || Infinity);
    const pages = () => Math.max(1, Math.ceil(shown.length / size()));
    const before = el("button", { type: "button", on: { click: () => { page -= 1; render(); } } }, "Previous");
    const after = el("button", { type: "button", on: { click: () => { page += 1; render(); } } }, "Next");
    const nav = el("div", { class: "row pages" }, before, after, status);
    function sort(at) {
      down = order === at ? !down : Boolean(columns[at].number);
      order = at;
      heads.forEach((head, one) => (one === at ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
      page = 0;
      arrange();
    }
    function arrange() {
      const words = (search.value || "").toLowerCase().split(/\s+/).filter(Boolean);
      shown = rows.filter((row) => words.every((word) => columns.some((column) => column.value && String(column.value(row) ?? "").toLowerCase().includes(word))));
      if (order >= 0) {
        const value = columns[order].value;
        const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
        const known = shown.filter((row) => (value(row) ?? "") !== "").sort((a, b) => compare(value(a), value(b)));
        shown = [...(down ? known.reverse() : known), ...shown.filter((row) => (value(row) ?? "") === "")];
      }
      render();
    }
    function render() {
      page = Math.min(Math.max(page, 0), pages() - 1);
      const first = page * size() || 0;
      const cut = shown.slice(first, size() === Infinity ? undefined : first + size());
      body.replaceChildren(...cut.map((row) => el("tr", {}, columns.map((column, at) => {
        const content = column.node ? column.node(row) : column.value(row);
        const told = content instanceof Node || Array.isArray(content) ? content : content === undefined || content === null || content === "" ? "–" : column.number && typeof content === "number" ? format(content) : quote(content);
        return at === 0 ? el("th", { scope: "row" }, told) : el("td", { class: column.number ? "number" : column.date ? "date" : null }, told);
      }))));
      before.disabled = page === 0;
      after.disabled = page === pages() - 1;
      before.hidden = after.hidden = pages() === 1;
      status.textContent = pages() > 1 ? `Rows ${first + 1} to ${first + cut.length} of ${shown.length}` : shown.length < rows.length ? `${shown.length} of ${rows.length} rows` : "";
      nav.hidden = !status.textContent && pages() === 1;
    }
    const search = el("input", { type: "search", on: { input: () => { page = 0; arrange(); } } });
    const box = el("label", { class: "row no-print" }, "Find in the table", search);
    render();
    return el("section", {}, rows.length > 8 && box,
      el("div", { class: "wide", role: "group", "aria-label": caption, tabindex: "0" }, el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body)), nav);
  }

  // Arrow keys go from one to the next of marks that are one stop of the keyboard.
  function rove(marks, choose) {
    marks.forEach((mark, at) => {
      mark.setAttribute("tabindex", at === 0 ? "0" : "-1");
      const go = (to) => {
        marks.forEach((one) => one.setAttribute("tabindex", "-1"));
        marks[to].setAttribute("tabindex", "0");
        marks[to].focus();
      };
      mark.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) go((at + step + marks.length) % marks.length);
        else if (event.key === "Home") go(0);
        else if (event.key === "End") go(marks.length - 1);
        else if (event.key === "Enter" || event.key === " ") choose(at);
        else return;
        event.preventDefault();
      });
      mark.addEventListener("focus", () => choose(at));
      mark.addEventListener("click", () => choose(at));
    });
  }

  const ui = { el, svg, link, open, image, quote, format, short, host, facts, badge, empty, color, table, rove, get framed() { return framed; } };

  // --- drawing ---
  function show() {
    if (!draw || !filled) return;
    const { slots, notices, trust } = filled;
    const title = slots.title || filled.title || "";
    document.title = title;
    // The page's one heading of the first rank is ours.
    const heading = document.createElement("h1");
    heading.append(quote(title));
    const head = el("header", {}, heading);
    if (slots.lead) head.append(el("p", { class: "lead" }, quote(slots.lead)));
    const said = [...(notices || []), ...(slots.note ? [slots.note] : [])];
    if (said.length) head.append(el("div", { class: "notices", role: "note" }, said.map((one) => el("p", {}, quote(one)))));
    const parts = [head];
    try {
      parts.push(...[draw(slots, ui)].flat(Infinity).filter(Boolean));
      root.dataset.state = "ready";
    } catch (error) {
      parts.push(empty("This answer could not be drawn; its text is whole."));
      root.dataset.state = "failed";
      console.error(error);
    }
    const words = trust && trust.charAt(0).toUpperCase() + trust.slice(1).replace(/-/g, " ") + ".";
    parts.push(el("footer", {}, [words, "Made by specloom."].filter(Boolean).join(" ")));
    main.replaceChildren(...parts);
  }
  function tell(text) {
    main.replaceChildren(el("pre", {}, quote(text)));
    root.dataset.state = "told";
  }

  // --- a client's frame ---
  const waiting = new Map();
  const send = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  function ask(method, params) {
    number += 1;
    send({ id: number, method, params });
    return new Promise((done) => waiting.set(number, done));
  }
  function adapt(context) {
    if (!context) return;
    if (context.theme === "light" || context.theme === "dark") root.dataset.theme = context.theme;
    for (const [name, value] of Object.entries((context.styles && context.styles.variables) || {})) {
      if (/^--font-[a-z0-9-]+$/.test(name) && typeof value === "string" && value.length < 200) root.style.setProperty(name, value);
    }
    if (context.displayMode) {
      pageSize = context.displayMode === "fullscreen" ? Infinity : 10;
      show();
    }
  }
  function take(result) {
    const given = result && result._meta && result._meta["specloom/view"];
    if (given && given.template === document.body.dataset.template) {
      filled = given;
      show();
    } else {
      tell(((result && result.content) || []).filter((one) => one.type === "text").map((one) => one.text).join("\n\n") || "There is no answer to show.");
    }
  }
  function listen(event) {
    const message = event.data;
    if (event.source !== window.parent || !message || message.jsonrpc !== "2.0") return;
    if (message.method === undefined && waiting.has(message.id)) {
      waiting.get(message.id)(message.result);
      waiting.delete(message.id);
    } else if (message.method === "ui/notifications/tool-result") take(message.params);
    else if (message.method === "ui/notifications/tool-cancelled") tell("The call was cancelled.");
    else if (message.method === "ui/notifications/host-context-changed") adapt(message.params);
    else if (message.id !== undefined && message.method) {
      const known = message.method === "ping" || message.method === "ui/resource-teardown";
      send({ id: message.id, ...(known ? { result: {} } : { error: { code: -32601, message: "Method not found" } }) });
    }
  }
  async function join() {
    window.addEventListener("message", listen);
    const answer = await ask("ui/initialize", {
      protocolVersion: "2026-01-26",
      appInfo: { name: "specloom", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    });
    adapt(answer && answer.hostContext);
    send({ method: "ui/notifications/initialized", params: {} });
    new ResizeObserver(() => {
      const height = Math.ceil(main.getBoundingClientRect().height);
      send({ method: "ui/notifications/size-changed", params: { width: root.clientWidth, height } });
    }).observe(main);
  }

  root.dataset.state = "waiting";
  return {
    view(function_) {
      draw = function_;
      if (held) {
        filled = JSON.parse(held.textContent);
        show();
      } else if (framed) join();
      else tell("This view shows an answer once a client gives it one.");
    },
  };
})();
