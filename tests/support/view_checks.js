// What is wrong with how a page can be read and used, as sentences: names, roles, order of headings, contrast.
() => {
  const problems = [];
  const visible = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const name = (node) => (node.getAttribute("aria-label") || node.getAttribute("alt") || (node.labels && [...node.labels].map((one) => one.textContent).join(" ")) || node.textContent || node.getAttribute("title") || "").trim();
  for (const node of document.querySelectorAll("button, a[href], input, select, [role=button], [tabindex], img, summary")) {
    if (node.id !== "view" && visible(node) && !name(node)) problems.push(`no name: ${node.outerHTML.slice(0, 80)}`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  if (new Set(ids).size !== ids.length) problems.push("an id stands twice");
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    const now = Number(heading.tagName[1]);
    if (now > level + 1) problems.push(`a heading of rank ${now} follows one of rank ${level}: ${heading.textContent.slice(0, 40)}`);
    level = now;
  }
  if (document.querySelectorAll("h1").length !== 1) problems.push("not one h1");
  if (!document.documentElement.lang) problems.push("no language");
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption || table.querySelectorAll("thead th[scope=col]").length === 0) problems.push("a table without a caption or heads");
  }
  for (const node of document.querySelectorAll("svg")) {
    if (!node.getAttribute("aria-hidden") && !(node.getAttribute("role") && name(node))) problems.push(`a drawing without a role or a name: ${node.outerHTML.slice(0, 80)}`);
  }
  for (const node of document.querySelectorAll("[role=list] > *, ul > *, ol > *")) {
    if (node.closest("ul, ol") === node.parentElement && node.tagName !== "LI") problems.push(`${node.tagName} in a list`);
  }
  // --- contrast, as WCAG 2.2 works it out ---
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255).map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)).reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
  const ground = (node) => { const mark = node instanceof SVGElement && node.closest(".pin"); if (mark) return read(getComputedStyle(mark.querySelector(".body")).fill); for (let one = node; one; one = one.parentElement) { const found = read(getComputedStyle(one).backgroundColor); if (found[3] === 255) return found; } return read(getComputedStyle(document.documentElement).colorScheme === "dark" ? "#000" : "#fff"); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ["SCRIPT", "STYLE", "TITLE", "title", "OPTION"].includes(node.tagName) || !visible(node)) continue;
    const style = getComputedStyle(node);
    const color = read(node instanceof SVGElement ? style.fill : style.color);
    const got = ratio(color, ground(node));
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (got < (large ? 3 : 4.5)) problems.push(`contrast ${got.toFixed(2)}: ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  for (const node of document.querySelectorAll("svg .body, svg .series")) {
    const style = getComputedStyle(node);
    const got = ratio(read(style.fill === "none" ? style.stroke : style.fill), ground(node.closest("svg")));
    if (got < 3) problems.push(`contrast of a mark ${got.toFixed(2)}: ${node.outerHTML.slice(0, 60)}`);
  }
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) problems.push(`wider than the page: ${document.documentElement.scrollWidth}`);
  return [...new Set(problems)];
}
