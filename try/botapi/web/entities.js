// Formatted text: Telegram's entities to nodes. Offsets count UTF-16 units, as JavaScript's strings do.
import { copy, el, icon } from "./dom.js";

const blocks = new Set(["pre", "blockquote", "expandable_blockquote"]);

// formatted returns nodes for the text. send is called with a command that is tapped.
export function formatted(text, entities, send) {
  const into = document.createDocumentFragment();
  const list = [...(entities || [])].sort((a, b) => a.offset - b.offset || b.length - a.length);
  fill(into, text, 0, text.length, list, send);
  return into;
}

// fill puts text[from, to) into a node. An entity that reaches out of the one around it is cut in two.
function fill(into, text, from, to, list, send) {
  let at = from;
  let afterBlock = false;
  const plain = (end, beforeBlock) => {
    let part = text.slice(at, end);
    // A block stands on lines of its own; the newline next to it would be one more.
    if (afterBlock && part.startsWith("\n")) part = part.slice(1);
    if (beforeBlock && part.endsWith("\n")) part = part.slice(0, -1);
    if (part) into.append(part);
  };
  while (list.length > 0) {
    const entity = list.shift();
    const start = Math.max(entity.offset, at);
    const end = Math.min(entity.offset + entity.length, to);
    if (start >= end) continue;
    const inner = [];
    while (list.length > 0 && list[0].offset < end) inner.push(list.shift());
    const rest = inner.filter((e) => e.offset + e.length > end);
    list.unshift(...rest.map((e) => ({ ...e, offset: end, length: e.offset + e.length - end })));
    const block = blocks.has(entity.type);
    plain(start, block);
    const [outer, body] = element(entity, text.slice(start, end), send);
    fill(body, text, start, end, inner, send);
    into.append(outer);
    at = end;
    afterBlock = block;
  }
  plain(to, false);
}

const styles = { bold: "b", italic: "i", underline: "u", strikethrough: "s" };

// element returns the node to insert and the one that takes the text.
function element(entity, text, send) {
  if (styles[entity.type]) return same(el(styles[entity.type]));
  switch (entity.type) {
    case "code":
      return same(el("code", { class: "inline", title: "Copy", onclick: () => copy(text) }));
    case "pre":
      return pre(entity.language, text);
    case "blockquote":
      return quote(false);
    case "expandable_blockquote":
      return quote(true);
    case "spoiler":
      return spoiler();
    case "text_link":
      return link(entity.url);
    case "url":
      return link(text);
    case "bot_command":
      return same(el("button", { type: "button", class: "cmd", onclick: () => send(text) }));
    case "mention":
    case "text_mention":
      return same(el("span", { class: "cmd" }));
    default:
      return same(el("span"));
  }
}

const same = (node) => [node, node];

function pre(language, text) {
  const body = el("code");
  const button = el("button", { type: "button", "aria-label": "Copy the code", onclick: () => copy(text) }, icon("copy", 16));
  const head = el("header", {}, el("span", {}, language || "code"), button);
  const outer = el("div", { class: "pre" }, head, el("pre", {}, body));
  if (language !== "diff") return [outer, body];
  for (const line of text.split(/(?<=\n)/)) body.append(el("span", { class: changed[line[0]] ?? "" }, line));
  return [outer, el("span")];
}

const changed = { "+": "added", "-": "removed", "@": "hunk" };

function quote(expandable) {
  const body = el("div", { class: "inside" });
  const outer = el("blockquote", { class: "quoted" + (expandable ? " folded" : "") }, body);
  if (expandable) {
    const toggle = () => outer.classList.toggle("folded");
    outer.append(el("button", { type: "button", class: "fold", "aria-label": "Show all or less", onclick: toggle }, icon("down", 16)));
  }
  return [outer, body];
}

function spoiler() {
  const node = el("span", { class: "spoiler", role: "button", tabindex: "0", "aria-label": "Hidden text" });
  const show = () => {
    node.classList.add("shown");
    node.removeAttribute("aria-label");
    node.removeAttribute("role");
  };
  node.addEventListener("click", show);
  node.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); show(); } });
  return same(node);
}

// link makes an anchor of web and mail addresses only: a javascript: address stays text.
function link(address) {
  let url;
  try { url = new URL(/^[a-z][a-z0-9+.-]*:/i.test(address) ? address : "https://" + address); } catch { return same(el("span")); }
  if (!["http:", "https:", "mailto:", "tg:"].includes(url.protocol)) return same(el("span"));
  return same(el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }));
}
