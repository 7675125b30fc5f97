"use strict";
// The page is made of elements and texts alone: nothing that comes from a server or a spec is ever read as HTML.

// --- Small things ---------------------------------------------------------------------------------------------------

const at = (id) => document.getElementById(id);

function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  node.append(...children.filter((one) => one !== null && one !== undefined && one !== ""));
  return node;
}

async function ask(name, given = {}) {
  const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given) };
  let reply;
  try {
    reply = await fetch(`api/${name}`, sent);
  } catch {
    throw new Error("The server of this page does not answer; is `specloom ui` still running?");
  }
  if (!reply.ok) throw new Error((await reply.text()).trim());
  return reply.json();
}

const MASK = "\u2022\u2022\u2022";

// A button that does nothing for now, and keeps the focus that a disabled one would lose.
function enable(button, isOn) { button.setAttribute("aria-disabled", String(!isOn)); }
const isOff = (button) => button.getAttribute("aria-disabled") === "true";

const say = (text) => { at("status").textContent = text; };
const pretty = (value) => JSON.stringify(value, null, 2);

function block(text, label) {
  return make("pre", { tabindex: 0, role: "region", "aria-label": label }, text || " ");
}

function fold(title, isOpen, ...children) {
  return make("details", { open: isOpen }, make("summary", {}, make("h3", {}, title)), ...children);
}

function table(caption, heads, rows) {
  const isNumber = (one) => typeof one === "number";
  const head = make("tr", {}, ...heads.map((one, place) => make("th", { scope: "col", className: rows.length && isNumber(rows[0][place]) ? "number" : null }, one)));
  const body = rows.map((row) => make("tr", {}, ...row.map((one) => make("td", { className: isNumber(one) ? "number" : null }, one instanceof Node ? one : String(one ?? "")))));
  return make("div", { className: "wide", tabindex: 0, role: "region", "aria-label": caption }, make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body)));
}

function tellFault(fault) {
  const lines = [make("p", {}, make("strong", { className: "grave" }, fault.kind), ` ${fault.message}`)];
  for (const key of ["provider", "argument", "action", "retry_after", "detail"]) {
    if (fault[key]) lines.push(make("p", { className: "soft" }, `${key.replace("_", " ")}: ${fault[key]}`));
  }
  return make("div", { className: "fault", role: "alert" }, ...lines);
}

// --- Forms of tools, made of their input schemas ----------------------------------------------------------------------

const LEFT_OUT = "";

// A control for one input, and what it says: `read` gives undefined where it is left out, and throws a sentence.
function makeField(name, schema, isRequired) {
  const id = `input-${name}`;
  const fallback = schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`;
  const bounds = [["minimum", "at least"], ["maximum", "at most"]].filter(([key]) => schema[key] !== undefined).map(([key, word]) => `${word} ${schema[key]}`);
  const remarks = [isRequired ? "required" : "", schema.type === "array" ? "list" : schema.type, ...bounds, fallback].filter(Boolean).join(", ");
  const told = make("span", { id: `${id}-hint`, className: "hint" }, schema.description || "");
  const shared = { id, name, "aria-describedby": told.id, required: isRequired && schema.type !== "boolean" };
  const label = make("label", { for: id }, `${name} `, make("small", {}, remarks));
  const options = schema.enum || (schema.type === "boolean" ? [true, false] : null);
  let control, read;
  if (options) {
    const shown = (one) => (one === true ? "yes" : one === false ? "no" : String(one));
    control = make("select", shared, make("option", { value: LEFT_OUT }, "(left out)"), ...options.map((one, place) => make("option", { value: String(place) }, shown(one))));
    read = () => (control.value === LEFT_OUT ? undefined : options[Number(control.value)]);
  } else if (schema.type === "array" && schema.items?.enum) {
    const boxes = schema.items.enum.map((one) => [one, make("input", { type: "checkbox", "aria-describedby": told.id })]);
    const read = () => { const chosen = boxes.filter(([, box]) => box.checked).map(([one]) => one); return chosen.length ? chosen : undefined; };
    const legend = make("legend", {}, `${name} `, make("small", {}, remarks));
    return { node: make("fieldset", { className: "field checks" }, legend, ...boxes.map(([one, box]) => make("label", {}, box, one)), told), read };
  } else if (schema.type === "integer" || schema.type === "number") {
    control = make("input", { ...shared, type: "number", min: schema.minimum, max: schema.maximum, step: schema.type === "integer" ? 1 : "any", placeholder: schema.default });
    read = () => (control.value === "" ? undefined : Number(control.value));
  } else if (schema.type === "array" && (schema.items?.type ?? "string") === "string") {
    control = make("textarea", { ...shared, rows: 2, placeholder: "one a line" });
    read = () => { const lines = control.value.split("\n").filter((one) => one.trim()); return lines.length ? lines : undefined; };
  } else if (schema.type === "array" || schema.type === "object" || schema.type !== "string") {
    control = make("textarea", { ...shared, rows: 3, placeholder: "JSON" });
    read = () => {
      if (!control.value.trim()) return undefined;
      try { return JSON.parse(control.value); } catch { throw new Error(`${name} is no JSON`); }
    };
  } else if ((schema.maxLength ?? 0) > 1000) {
    control = make("textarea", { ...shared, rows: 2, placeholder: schema.default });
    read = () => control.value || undefined;
  } else {
    control = make("input", { ...shared, type: "text", autocomplete: "off", spellcheck: "false", placeholder: schema.default });
    read = () => control.value || undefined;
  }
  return { node: make("div", { className: "field" }, label, control, told), read: () => { const value = read(); return value; }, name };
}

function makeForm(tool) {
  const schema = tool.inputSchema, required = new Set(schema.required || []);
  const names = Object.keys(schema.properties || {}).sort((one, two) => required.has(two) - required.has(one));
  const fields = names.map((name) => ({ ...makeField(name, schema.properties[name], required.has(name)), name }));
  const read = () => {
    const given = {};
    for (const field of fields) {
      const value = field.read();
      if (value !== undefined) given[field.name] = value;
    }
    return given;
  };
  return { nodes: fields.map((one) => one.node), read };
}

// --- What a call gave -----------------------------------------------------------------------------------------------

// As it is sent, but for what stands in the place of a secret.
function escaped(text) {
  try { return text.split(MASK).map(encodeURIComponent).join(MASK); } catch { return text; }
}

function requestLines(sent) {
  const pairs = sent.query.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&");
  const lines = [`${sent.method} ${sent.url}${pairs ? `?${pairs}` : ""}`, ...Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}`)];
  const body = sent.json !== undefined ? pretty(sent.json) : sent.body;
  return [...lines, ...(body ? ["", body] : [])].join("\n");
}

function showProspect(one, place) {
  const item = make("li", {}, make("p", {}, make("strong", {}, `${place + 1}. ${one.provider}.${one.operation}`), one.shards > 1 ? ` ${one.shards} requests, because a list is split` : ""));
  if (one.notHonoured.length) item.append(make("p", { className: "doubt" }, `does not take ${one.notHonoured.join(", ")}: left out of the request`));
  if (one.problem) item.append(make("p", { className: "grave" }, `cannot be asked: ${one.problem}`));
  item.append(...one.requests.map((sent) => block(requestLines(sent), `Request that ${one.provider} would get`)));
  item.append(...one.laterSteps.map((step) => make("p", { className: "soft" }, `then, if it applies, step ${step.step}: ${step.method} ${step.path}`)));
  return item;
}

// What a call would do, as `specloom explain` says it: whom it asks in which order, with which requests.
function showExplanation(told) {
  const parts = [];
  const moved = Object.entries(told.requested || {}).map(([name, value]) => `${name} was ${value} and is moved to ${told.arguments[name]}`);
  parts.push(...moved.map((one) => make("p", { className: "doubt" }, one)));
  if (told.providers.length) parts.push(make("ol", { className: "plain" }, ...told.providers.map(showProspect)));
  else parts.push(make("p", {}, "Nobody is asked."));
  parts.push(...(told.pages || []).map((one) => make("p", {}, `read as the page ${one.page}, by its address ${one.address}`)));
  if (told.then) parts.push(make("p", {}, `Then: ${told.then}.`));
  if (told.leftOut.length) parts.push(table("Left out", ["provider", "why"], told.leftOut.map((one) => [one.provider, one.reason])));
  const kept = told.cache ? `The answer is kept ${told.cache.ttlSeconds} s as ${told.cache.key}.` : "The answer is not kept.";
  parts.push(make("p", { className: "soft" }, kept));
  return parts;
}

function showExchange(one) {
  const sent = one.request;
  const who = [one.provider, one.operation, sent.step].filter(Boolean).join(" · ") || "page";
  const outcome = one.fault ? `${one.fault.kind}: ${one.fault.message}` : `${one.response.status}, ${one.response.bytes} bytes`;
  const item = make("li", {}, make("p", {}, make("strong", {}, who), ` ${outcome} in ${one.milliseconds} ms`), block(requestLines(sent), `Request to ${who}`));
  if (one.response) {
    const heads = Object.entries(one.response.headers).map(([name, value]) => `${name}: ${value}`);
    const text = one.response.json !== undefined ? pretty(one.response.json) : one.response.text ?? "(no text)";
    item.append(block([...heads, "", text + (one.response.cut ? "\n… cut" : "")].join("\n"), `Response to ${who}`));
  }
  return item;
}

function showExchanges(exchanges) {
  if (!exchanges.length) return make("p", { className: "soft" }, "Nothing was sent: the answer was kept, or is made here.");
  return make("ul", { className: "plain" }, ...exchanges.map(showExchange));
}

function showResult(result) {
  const parts = [];
  if (result.fault) parts.push(tellFault(result.fault));
  if (result.text) parts.push(fold("Text", true, block(result.text, "The answer as text")));
  if (result.view) {
    const frame = make("iframe", { src: `view/${result.view}`, sandbox: "allow-scripts allow-popups allow-popups-to-escape-sandbox", title: "View of the answer" });
    parts.push(fold("View", true, frame));
  }
  if (result.answer) {
    parts.push(fold("JSON", !result.text, block(pretty(result.answer), "The answer as JSON")));
    parts.push(fold("Beside the answer", false, block(pretty(result.meta), "What stands beside the answer")));
  }
  parts.push(fold(`Exchanged with upstreams (${result.exchanges.length})`, false, showExchanges(result.exchanges)));
  return parts;
}

// --- Parts of the page ------------------------------------------------------------------------------------------------

const tools = { list: [], chosen: "", filter: "" };

async function showTools(main) {
  if (!tools.list.length) {
    const told = await ask("tools");
    tools.list = told.tools;
    tools.problems = told.problems;
    tools.replay = told.replay;
  }
  const list = make("ul", { className: "list", "aria-label": "Tools" });
  const form = make("section", { "aria-label": "Form of the tool" });
  const preview = make("div", { id: "explain" });
  const result = make("section", { "aria-label": "Answer", id: "result" });
  const progress = make("div", { id: "progress" });
  const fill = () => {
    const wanted = tools.filter.toLowerCase().split(" ").filter(Boolean);
    const fits = (tool) => wanted.every((word) => `${tool.name} ${tool.title} ${tool.toolsets.join(" ")} ${tool.description}`.toLowerCase().includes(word));
    const shown = tools.list.filter(fits);
    list.replaceChildren(...shown.map((tool) => make("li", {}, make("button", { type: "button", title: tool.title, "aria-current": tool.name === tools.chosen ? "true" : null, onclick: () => { location.hash = `#tools/${tool.name}`; } }, tool.name))));
    if (!shown.length) list.append(make("li", { className: "soft" }, "no tool has these words"));
  };
  const filter = make("input", { type: "search", id: "filter", value: tools.filter, oninput: (event) => { tools.filter = event.target.value; fill(); } });
  tools.choose = (name) => {
    const tool = tools.list.find((one) => one.name === name);
    tools.chosen = tool ? name : "";
    fill();
    form.replaceChildren(...(tool ? formParts(tool, preview, result, progress) : [make("p", { className: "soft" }, "Choose a tool.")]));
    if (!tool) preview.replaceChildren();
    result.replaceChildren();
  };
  const notices = [...(tools.replay ? ["Answers come from recordings."] : []), ...tools.problems].map((one) => make("p", { className: "doubt" }, one));
  main.replaceChildren(...notices, make("div", { className: "columns" }, make("section", { "aria-label": "Which tool" }, make("label", { for: "filter" }, "Find a tool"), filter, list), form, make("div", {}, progress, result, preview)));
}

// Says what a call of the tool would do, and again whenever something is typed: the newest answer counts.
function explainer(tool, read, preview) {
  const body = make("div", {}), title = make("h3", {}, "What it would ask");
  preview.replaceChildren(make("details", { open: true }, make("summary", {}, title), body));
  let timer = 0, newest = 0;
  const tell = async () => {
    const turn = ++newest;
    let told;
    try { told = await ask("explain", { tool: tool.name, arguments: read() }); } catch (error) { told = { fault: { kind: "page", message: error.message } }; }
    if (turn !== newest) return;
    if (told.fault) body.replaceChildren(make("p", { className: "soft" }, told.fault.message));
    else body.replaceChildren(...showExplanation(told));
  };
  tell();
  return () => { clearTimeout(timer); timer = setTimeout(tell, 250); };
}

// What a running call says that it does, the seconds it has taken, and what stops it; what is returned takes it away.
function follow(run, name, place) {
  const steps = make("ol", { className: "plain", "aria-label": `Steps of ${name}` }), clock = make("small", { "aria-hidden": "true" }, "0 s");
  const stop = make("button", { type: "button", onclick: async () => {
    if (isOff(stop)) return;
    enable(stop, false);
    say(`${name} is stopped …`);
    try { await ask("stop", { run }); } catch (error) { say(error.message); }
  } }, "Stop");
  const box = make("section", { className: "running", "aria-label": `${name} runs` }, make("p", { className: "row" }, make("strong", {}, `${name} runs`), clock, stop), steps);
  place.append(box);
  const began = Date.now(), ticking = setInterval(() => { clock.textContent = `${Math.round((Date.now() - began) / 1000)} s`; }, 1000);
  let isOver = false;
  const wait = (time) => new Promise((resolve) => { setTimeout(resolve, time); });
  const read = async () => {
    for (let after = 0; !isOver;) {
      let told;
      try { told = await ask("progress", { run, after }); } catch { return; }
      if (isOver) return;
      if (!told.running) await wait(200); // it has not begun yet, or its answer is on the way
      steps.append(...told.steps.map((one) => make("li", {}, one)));
      if (told.steps.length) say(`${name}: ${told.steps.at(-1)}`);
      after = told.told || after;
    }
  };
  read();
  return () => { isOver = true; clearInterval(ticking); box.remove(); };
}

function formParts(tool, preview, result, progress) {
  const { nodes, read } = makeForm(tool);
  const run = make("button", { className: "main", type: "submit" }, "Run");
  const anew = make("input", { type: "checkbox" });
  const explain = explainer(tool, read, preview);
  const marks = [tool.annotations.readOnlyHint ? "" : "changes something", tool.annotations.destructiveHint ? "may delete" : "", tool.annotations.openWorldHint ? "asks the network" : ""].filter(Boolean);
  const send = async (event) => {
    event.preventDefault();
    if (isOff(run)) return;
    let given;
    try { given = read(); } catch (error) { say(error.message); return; }
    enable(run, false);
    say(`${tool.name} runs …`);
    const running = crypto.randomUUID();
    const leave = follow(running, tool.name, progress);
    const end = () => {
      const hasFocus = progress.contains(document.activeElement);
      leave();
      enable(run, true);
      if (hasFocus) run.focus();
    };
    try {
      const told = await ask("call", { tool: tool.name, arguments: given, anew: anew.checked, run: running });
      end();
      if (told.stopped) { say(told.stopped); return; }
      say(told.fault ? `${tool.name}: ${told.fault.kind}` : `${tool.name} answered in ${told.milliseconds} ms`);
      if (tools.chosen === tool.name) {
        result.replaceChildren(make("h2", {}, "Answer"), ...(told.exchanges ? showResult(told) : [tellFault(told.fault)]));
        result.scrollIntoView({ block: "nearest" });
        if (result.getBoundingClientRect().bottom > innerHeight) result.scrollIntoView({ block: "start" });
      }
    } catch (error) {
      say(error.message);
    } finally {
      end();
    }
  };
  return [
    make("h2", {}, tool.name),
    make("p", {}, tool.title, ...marks.flatMap((one) => [" ", make("span", { className: "badge soft" }, one)])),
    fold("What a model is told", false, block(tool.description, "Description of the tool")),
    make("form", { onsubmit: send, oninput: explain }, ...nodes, make("p", { className: "row run" }, run, make("label", {}, anew, " ask anew what was answered before"))),
  ];
}

// --- Providers while they are written: the file, what its map makes of a reply, and the verdict ----------------------

const authoring = { list: [], drafts: new Map(), open: null };

const isChanged = () => [...authoring.drafts.values()].some((one) => one.text !== one.saved);
addEventListener("beforeunload", (event) => { if (isChanged()) event.preventDefault(); });

async function showProviders(main) {
  authoring.list = (await ask("providers")).providers;
  const choice = make("select", { id: "provider", onchange: () => { location.hash = `#providers/${choice.value}`; } },
    make("option", { value: "" }, "choose one"), ...authoring.list.map((one) => make("option", { value: one.name }, one.own ? `${one.name} (your own)` : one.name)));
  const desk = make("div", {});
  authoring.open = async (name) => {
    const known = authoring.list.some((one) => one.name === name) ? name : "";
    choice.value = known;
    if (!known) { desk.replaceChildren(make("p", { className: "soft" }, "Choose a provider; its file is read, and nothing is changed.")); return; }
    if (!authoring.drafts.has(known)) {
      const told = await ask("provider", { name: known });
      if (told.fault) { desk.replaceChildren(tellFault(told.fault)); return; }
      authoring.drafts.set(known, { ...told, saved: told.text, example: 0, reply: 0, bodies: new Map(), given: new Map() });
    }
    openDesk(desk, authoring.drafts.get(known));
  };
  main.replaceChildren(make("div", { className: "field narrow" }, make("label", { for: "provider" }, "Provider"), choice), desk);
}

function openDesk(desk, draft) {
  const editor = make("textarea", { id: "editor", className: "code", spellcheck: "false", wrap: "off", "aria-describedby": "editor-hint" });
  editor.value = draft.text;
  const save = make("button", { type: "button", "aria-disabled": "true" }, "Save");
  const hint = make("p", { id: "editor-hint", className: "hint" }, `Saving writes ${draft.target}; the shipped file stays as it is.`);
  const verdict = make("section", { id: "verdict", "aria-label": "Verdict on the file" });
  const example = make("select", { id: "example" });
  const reply = make("select", { id: "reply" });
  const body = make("textarea", { id: "body", className: "code reply", spellcheck: "false", wrap: "off" });
  const replyField = make("div", { className: "field" }, make("label", { for: "reply" }, "Reply to"), reply);
  const rows = make("section", { id: "rows", "aria-label": "What comes out" });
  const given = make("textarea", { id: "arguments", className: "code short", spellcheck: "false" });
  const live = make("button", { type: "button" }, "Ask the upstream once");
  const tried = make("section", { id: "tried", "aria-label": "What the upstream was asked and replied" });
  let examples = [], isBusy = false, isDirty = false, clean = false;

  const stated = () => examples[draft.example]?.replies[draft.reply];
  const key = () => `${draft.example} ${draft.reply}`;
  const fillReplies = () => {
    const replies = examples[draft.example]?.replies ?? [];
    reply.replaceChildren(...replies.map((one, place) => make("option", { value: String(place) }, `step ${one.step}${replies.filter((other) => other.step === one.step).length > 1 ? `, ${one.at + 1}` : ""}`)));
    replyField.hidden = replies.length < 2;
    if (replies.length) reply.value = String(Math.min(draft.reply, replies.length - 1));
    body.disabled = !replies.length;
    const text = draft.bodies.get(key()) ?? stated()?.body ?? "";
    if (document.activeElement !== body) body.value = text;
  };
  const fillArguments = () => { if (document.activeElement !== given) given.value = draft.given.get(draft.example) ?? pretty(examples[draft.example]?.arguments ?? {}); };
  const check = async () => {
    if (isBusy) { isDirty = true; return; }
    isBusy = true;
    const own = draft.bodies.get(key()), sent = { name: draft.name, text: draft.text, example: draft.example };
    if (own !== undefined && stated()) Object.assign(sent, { step: stated().step, at: stated().at, body: own });
    try {
      const told = await ask("preview", sent);
      if (told.fault) verdict.replaceChildren(tellFault(told.fault));
      else {
        showVerdict(verdict, told.diagnostics, editor);
        clean = !told.diagnostics.some((one) => one.severity === "error");
        if (told.examples.length) {
          examples = told.examples;
          draft.example = Math.min(draft.example, examples.length - 1);
          example.replaceChildren(...examples.map((one, place) => make("option", { value: String(place) }, `${one.operation}: ${one.name}`)));
          example.value = String(draft.example);
          fillReplies();
          fillArguments();
        }
        showRows(rows, told);
      }
    } catch (error) { say(error.message); clean = false; }
    enable(save, clean && draft.text !== draft.saved);
    isBusy = false;
    if (isDirty) { isDirty = false; check(); }
  };
  let timer = 0;
  const soon = () => { enable(save, false); clearTimeout(timer); timer = setTimeout(check, 200); };
  editor.addEventListener("input", () => { draft.text = editor.value; soon(); });
  body.addEventListener("input", () => { draft.bodies.set(key(), body.value); soon(); });
  example.addEventListener("change", () => { draft.example = Number(example.value); draft.reply = 0; fillReplies(); fillArguments(); check(); });
  given.addEventListener("input", () => draft.given.set(draft.example, given.value));
  live.addEventListener("click", async () => {
    if (isOff(live)) return;
    const number = draft.example;
    let parsed;
    try { parsed = JSON.parse(given.value); } catch { say("The arguments are no JSON."); return; }
    enable(live, false);
    say("The upstream is asked …");
    try {
      const told = await ask("try", { name: draft.name, text: draft.text, example: number, arguments: parsed });
      tried.replaceChildren(...(told.fault ? [tellFault(told.fault)] : []), ...(told.exchanges ? [fold(`Exchanged (${told.exchanges.length})`, false, showExchanges(told.exchanges))] : []),
        ...(told.yaml ? [fold("As an example for the file", false, block(told.yaml, "The exchange as an example"))] : []));
      const seen = {};
      for (const one of told.bodies ?? []) {
        const at = seen[one.step] = (seen[one.step] ?? -1) + 1;
        const place = examples[number].replies.findIndex((other) => other.step === one.step && other.at === at);
        if (place >= 0) draft.bodies.set(`${number} ${place}`, one.body);
      }
      say(told.fault ? `${told.fault.kind}: ${told.fault.message}` : "The upstream replied; the rows are of its reply.");
      fillReplies();
      check();
    } catch (error) { say(error.message); }
    enable(live, true);
  });
  reply.addEventListener("change", () => { draft.reply = Number(reply.value); fillReplies(); check(); });
  save.addEventListener("click", async () => {
    if (isOff(save)) return;
    enable(save, false);
    try {
      const told = await ask("save", { name: draft.name, text: draft.text, digest: draft.digest });
      if (told.fault) { say(told.fault.message); enable(save, true); return; }
      Object.assign(draft, { saved: draft.text, digest: told.digest, target: told.target });
      tools.list = [];
      say([`saved ${told.saved}; calls use it from now on`, ...told.problems].join(". "));
    } catch (error) { say(error.message); enable(save, true); }
  });
  const restore = make("button", { type: "button", onclick: () => { draft.bodies.delete(key()); body.value = stated()?.body ?? ""; check(); } }, "As stated");
  desk.replaceChildren(make("div", { className: "halves" },
    make("div", {}, make("div", { className: "field" }, make("label", { for: "editor" }, "The file"), editor, hint), make("p", { className: "row" }, save), verdict),
    make("div", {}, make("div", { className: "field" }, make("label", { for: "example" }, "Example"), example), replyField,
      make("div", { className: "field" }, make("label", { for: "body" }, "What the upstream replies ", make("small", {}, "(change it, or paste another)")), body, make("p", { className: "row" }, restore)), rows,
      fold("Try it live", false, make("div", { className: "field" }, make("label", { for: "arguments" }, "Arguments ", make("small", {}, "JSON")), given), make("p", { className: "row" }, live), tried))));
  check();
}

function goTo(editor, line, column) {
  const lines = editor.value.split("\n"), before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  editor.focus();
  editor.setSelectionRange(before + Math.max(0, column - 1), before + (lines[line - 1] ?? "").length);
  editor.scrollTop = Math.max(0, (line - 4) * (editor.scrollHeight / lines.length));
}

function showVerdict(place, diagnostics, editor) {
  const count = (severity) => diagnostics.filter((one) => one.severity === severity).length;
  const items = diagnostics.map((one) => make("li", {},
    make("button", { type: "button", onclick: () => goTo(editor, one.line, one.column) }, `line ${one.line}:${one.column}`),
    " ", make("strong", { className: one.severity === "error" ? "grave" : "doubt" }, `${one.severity} ${one.code}`), ` ${one.message}`,
    one.hint ? make("span", { className: "hint" }, one.hint) : ""));
  const line = editor.value.split("\n").length;
  place.replaceChildren(make("h2", {}, `${count("error")} errors, ${count("warning")} warnings in ${line} lines`), make("ul", { className: "plain" }, ...items));
}

const cell = (value) => { const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value); return text.length > 300 ? `${text.slice(0, 300)}…` : text; };

function showRows(place, told) {
  if (!told.compiles) { place.replaceChildren(make("p", { className: "doubt" }, "With these errors it does not compile, so nothing is mapped.")); return; }
  const parts = [];
  if (told.problem) parts.push(make("p", { className: "grave" }, told.problem));
  if (told.fault) parts.push(tellFault(told.fault));
  if (told.rows) {
    const names = Object.keys(told.fields).filter((name) => told.fields[name]);
    parts.push(make("h2", {}, told.count === 1 ? "1 row" : `${told.count} rows`));
    if (told.rows.length) parts.push(table(`Rows of ${told.operation}`, ["#", ...names], told.rows.map((row, number) => [number + 1, ...names.map((name) => cell(row[name]))])));
    const empty = Object.keys(told.fields).filter((name) => !told.fields[name]);
    if (empty.length && told.count) parts.push(make("p", { className: "soft" }, `In no row: ${empty.join(", ")}`));
    if (Object.keys(told.meta).length) parts.push(fold("Beside the rows", false, block(pretty(told.meta), "What stands beside the rows")));
    parts.push(fold(`Requests (${told.sent.length})`, false, ...told.sent.map((one) => block(requestLines(one), `Request of step ${one.step}`))));
  }
  if (!parts.length) parts.push(make("p", { className: "soft" }, "It has no example yet; one under `examples` shows what comes out."));
  place.replaceChildren(...parts);
}

// --- What an operator looks at ------------------------------------------------------------------------------------------

const STATES = { ok: "fine", missing: "soft", warning: "doubt", broken: "grave" };
const mark = (word, kind) => make("span", { className: kind }, word);

async function showOperator(main) {
  const look = async (reach) => {
    if (isOff(again)) return;
    say(reach ? "Connections are tried …" : "Looking …");
    enable(again, false);
    enable(connect, false);
    try {
      const told = await ask("operator", { reach });
      if (told.fault) place.replaceChildren(tellFault(told.fault));
      else place.replaceChildren(...operatorParts(told));
      say("");
    } catch (error) { say(error.message); }
    enable(again, true);
    enable(connect, true);
  };
  const again = make("button", { type: "button", onclick: () => look(false) }, "Look again");
  const connect = make("button", { type: "button", onclick: () => look(true) }, "Try connections to providers");
  const place = make("div", { id: "operator" });
  main.replaceChildren(make("p", { className: "row" }, again, connect), place);
  await look(false);
}

function providerRow(one) {
  const settings = one.settings.map((setting) => make("li", {}, `${setting.name} `, setting.set ? mark("set", "fine") : mark(setting.required ? "not set, needed" : "not set", setting.required ? "doubt" : "soft"), setting.secret ? mark(" secret", "soft") : ""));
  return [one.name, one.title, one.configured ? mark("can be asked", "fine") : mark("not configured", "doubt"), settings.length ? make("ul", { className: "plain" }, ...settings) : "needs nothing", one.offers.join(", ")];
}

function operatorParts(told) {
  const found = told.diagnosis, parts = [];
  const list = (title, items) => (items?.length ? [make("h2", {}, title), make("ul", {}, ...items.map((one) => make("li", {}, one)))] : []);
  if (found.summary) parts.push(make("p", {}, make("strong", {}, found.summary)), ...list("What to do", found.steps), ...list("What could be better", found.better));
  const counts = (caption, rows) => table(caption, ["name", "calls", "failed", "kept", "mean ms"], rows.map((one) => [one.name, one.calls, one.faults, one.kept, one.milliseconds]));
  parts.push(make("h2", {}, "Calls"));
  if (told.tools.length) parts.push(counts("Tools that this page called", told.tools));
  else parts.push(make("p", { className: "soft" }, "This page has called no tool yet."));
  if (told.operations.length) parts.push(counts("Operations of providers that it asked", told.operations));
  if (told.days === null) parts.push(make("p", { className: "soft" }, "No call was recorded on this machine."));
  else {
    const rows = told.days.flatMap((day) => [[day.day, "all", day.calls, day.requests, day.usd.toFixed(4)], ...Object.entries(day.providers).map(([name, one]) => [day.day, name, "", one.requests, one.usd.toFixed(4)])]);
    parts.push(rows.length ? table("Recorded on this machine in the last days of UTC, by any server", ["day", "provider", "calls", "requests", "dollars"], rows) : make("p", { className: "soft" }, "No call was recorded on this machine in the last days."));
  }
  parts.push(make("h2", {}, "Providers"), table("What each needs, and whether it is set; values are never shown", ["name", "title", "state", "variables", "offers"], told.providers.map(providerRow)));
  if (found.examined) parts.push(fold(`Everything that was looked at (${found.examined.length})`, false, table("Findings", ["state", "about", "what", "remedy"], found.examined.map((one) => [mark(one.state, STATES[one.state]), one.about, one.says, one.remedy]))));
  return parts;
}

const PARTS = { tools: ["Tools", showTools], providers: ["Providers", showProviders], operator: ["Operator", showOperator] };
let current = "";

async function show() {
  const [name, ...rest] = decodeURIComponent(location.hash.slice(1) || "tools").split("/");
  const part = Object.hasOwn(PARTS, name) ? name : "tools";
  if (part !== current) {
    current = part;
    at("nav").replaceChildren(make("ul", {}, ...Object.entries(PARTS).map(([one, [title]]) => make("li", {}, make("a", { href: `#${one}`, "aria-current": one === part ? "page" : null }, title)))));
    try { await PARTS[part][1](at("main")); } catch (error) { current = ""; say(error.message); return; }
  }
  if (part === "tools") tools.choose(rest.join("/"));
  if (part === "providers") await authoring.open(rest.join("/"));
  document.documentElement.dataset.state = "ready";
}

addEventListener("hashchange", show);
show();
