// Rich messages: the Markdown of a bot to nodes, as far as agents write it. Text always goes in as text nodes.
import { copy, el, icon } from "./dom.js";

const item = /^(\s*)(?:[-*+]|(\d+)[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/;

// rich returns nodes for the source of a rich message. send is called with a command that is tapped.
export function rich(source, send) {
  const into = document.createDocumentFragment();
  blocks(into, source.split("\n"), send);
  return into;
}

// blocks draws lines. Each kind of block takes its lines from the front.
function blocks(into, lines, send) {
  const rest = [...lines];
  const taken = (is) => { const found = []; while (rest.length > 0 && is(rest[0])) found.push(rest.shift()); return found; };
  while (rest.length > 0) {
    const line = rest[0];
    const fence = /^(`{3,}|~{3,})\s*(\S*)/.exec(line);
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (line.trim() === "") rest.shift();
    else if (fence) {
      rest.shift();
      const body = taken((l) => !l.startsWith(fence[1])).join("\n");
      rest.shift();
      into.append(code(fence[2], body));
    } else if (heading) {
      rest.shift();
      into.append(el("h" + Math.min(heading[1].length + 2, 6), { class: "heading" }, inline(heading[2], send)));
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      rest.shift();
      into.append(el("hr"));
    } else if (line.startsWith(">")) {
      const inside = el("div", { class: "inside" });
      blocks(inside, taken((l) => l.startsWith(">")).map((l) => l.replace(/^> ?/, "")), send);
      into.append(el("div", { class: "quoted" }, inside));
    } else if (line.startsWith("|") && /^\|[\s:|-]+$/.test(rest[1] || "")) {
      into.append(table(taken((l) => l.startsWith("|")), send));
    } else if (item.test(line)) {
      into.append(list(taken((l) => item.test(l) || /^\s+\S/.test(l)), send));
    } else {
      const paragraph = taken((l) => l.trim() !== "" && !/^(#{1,6}\s|>|```|~~~)/.test(l));
      into.append(el("p", {}, inline((paragraph.length ? paragraph : [rest.shift()]).join("\n"), send)));
    }
  }
}

function code(language, text) {
  const button = el("button", { type: "button", "aria-label": "Copy the code", onclick: () => copy(text) }, icon("copy", 16));
  return el("div", { class: "pre" }, el("header", {}, el("span", {}, language || "code"), button), el("pre", {}, el("code", {}, text)));
}

function table(lines, send) {
  const cells = (line) => line.replace(/^\||\|\s*$/g, "").split(/(?<!\\)\|/).map((c) => c.trim().replaceAll("\\|", "|"));
  const row = (line, tag) => el("tr", {}, ...cells(line).map((c) => el(tag, {}, inline(c, send))));
  return el("div", { class: "table" }, el("table", {}, el("thead", {}, row(lines[0], "th")), el("tbody", {}, ...lines.slice(2).map((l) => row(l, "td")))));
}

// list draws one item per line, indented as it is written.
function list(lines, send) {
  const rows = lines.map((line) => {
    const [, indent, number, box, text] = item.exec(line) || ["", "", "", undefined, line.trim()];
    const mark = box !== undefined ? (box === " " ? "☐" : "☑") : number ? number + "." : item.test(line) ? "•" : "";
    const node = el("div", { class: "item" }, el("span", {}, mark), el("div", {}, inline(text, send)));
    node.style.marginLeft = Math.min(indent.length, 12) * 0.5 + "em";
    return node;
  });
  return el("div", { class: "items" }, ...rows);
}

const marks = [["code", /(`+)(.+?)\1(?!`)/s], ["link", /\[([^\]]+)\]\((\S+?)\)/], ["b", /(\*\*|__)(?=\S)(.+?)\1/s], ["s", /(~~)(.+?)\1/s],
  ["i", /(?<![\w*_\\])([*_])(?=\S)(.+?)(?<=\S)\1(?![\w*_])/s], ["cmd", /(?<![\w/:.])\/[a-z][a-z0-9_]*(?![\w/.])/]];

// inline draws the first mark of a text, and what is around it.
function inline(text, send) {
  const into = document.createDocumentFragment();
  const found = marks.map(([kind, pattern]) => [kind, pattern.exec(text)]).filter(([, m]) => m && text[m.index - 1] !== "\\");
  if (found.length === 0) { into.append(plain(text)); return into; }
  const [kind, m] = found.reduce((a, b) => (b[1].index < a[1].index ? b : a));
  into.append(plain(text.slice(0, m.index)));
  if (kind === "code") into.append(el("code", { class: "inline", title: "Copy", onclick: () => copy(m[2]) }, m[2]));
  else if (kind === "cmd") into.append(el("button", { type: "button", class: "cmd", onclick: () => send(m[0]) }, m[0]));
  else if (kind === "link") into.append(/^https?:/.test(m[2]) ? el("a", { href: m[2], target: "_blank", rel: "noopener noreferrer" }, inline(m[1], send)) : inline(m[1], send));
  else into.append(el(kind, {}, inline(m[2], send)));
  into.append(inline(text.slice(m.index + m[0].length), send));
  return into;
}

// plain takes the signs away that keep a letter from being a mark, and the blanks that break a line.
const plain = (text) => text.replace(/\\([\\`*_{}[\]()#+.!|>~<&$=^:-])/g, "$1").replace(/ {2,}\n/g, "\n");
