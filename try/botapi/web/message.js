// One message: a row with a bubble and, below it, its keyboard.
import { $, copy, el, icon, post, ticks, toast } from "./dom.js";
import { formatted } from "./entities.js";
import { rich } from "./rich.js";

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });

// Taps that wait for the bot's answer: "message:data" → query id, and answers that were faster than the tap's own reply.
const waiting = new Map();
const early = new Set();

export function answered(query) {
  for (const [key, id] of waiting) {
    if (id === query) { settle(key); return; }
  }
  early.add(query);
}

function settle(key) {
  waiting.delete(key);
  for (const node of document.querySelectorAll(".waiting")) {
    if (node.dataset.key === key) node.classList.remove("waiting");
  }
}

async function tap(id, button, node) {
  const key = id + ":" + button.data;
  if (waiting.has(key)) return;
  waiting.set(key, "");
  node.classList.add("waiting");
  const reply = await post("/page/tap", { id, data: button.data });
  if (!reply || early.delete(reply.query)) { settle(key); return; }
  waiting.set(key, reply.query);
  setTimeout(() => { if (waiting.get(key) === reply.query) settle(key); }, 20000);
}

// message draws a view. actions: send(text), reply(view), edit(view), jump(id), topicName(id).
export function message(view, actions) {
  if (view.service) return el("div", { class: "service", "data-id": view.id }, view.service);
  const text = el("div", { class: "text" });
  if (view.rich) text.append(rich(view.text, actions.send));
  else if (view.text) text.append(formatted(view.text, view.entities, actions.send));
  const bare = view.photo && !view.text && !view.reactions;
  const end = meta(view);
  if (!view.reactions) text.append(end);
  const bubble = el("div", { class: "bubble" + (bare ? " bare" : "") },
    view.sender && el("div", { class: "sender" }, view.sender), topicLabel(view, actions), reply(view, actions), photo(view), file(view), voice(view), text, reactions(view, end));
  bubble.addEventListener("dblclick", (e) => {
    if (e.target.closest("button, a, code, pre, .photo")) return;
    getSelection().removeAllRanges();
    actions.reply(view);
  });
  onHold(bubble, (x, y) => openMenu(view, actions, x, y));
  const kind = "row" + (view.out ? " out" : "") + (view.keyboard ? " keys" : "");
  return el("div", { class: kind, "data-id": view.id }, bubble, keyboard(view));
}

// onHold hears a click of the right button, and a finger that stays.
function onHold(node, open) {
  let timer;
  const stop = () => clearTimeout(timer);
  node.addEventListener("contextmenu", (e) => {
    if (e.target.closest("a, img") || !getSelection().isCollapsed) return;
    e.preventDefault();
    stop();
    open(e.clientX, e.clientY);
  });
  node.addEventListener("touchstart", (e) => {
    const { clientX, clientY } = e.touches[0];
    timer = setTimeout(() => open(clientX, clientY), 500);
  }, { passive: true });
  for (const end of ["touchend", "touchmove", "touchcancel"]) node.addEventListener(end, stop, { passive: true });
}

// openMenu shows what can be done with a message.
function openMenu(view, actions, x, y) {
  const menu = $("actions");
  const close = () => { menu.hidden = true; document.removeEventListener("pointerdown", outside); };
  const outside = (e) => { if (!e.target.closest("#actions")) close(); };
  const item = (name, label, run) => el("button", { type: "button", role: "menuitem", onclick: () => { close(); run(); } }, icon(name, 18), label);
  const items = [item("reply", "Reply", () => actions.reply(view))];
  if (view.out && view.text && !view.file && !view.photo) items.push(item("edit", "Edit", () => actions.edit(view)));
  if (view.text) items.push(item("copy", "Copy", () => copy(view.text)));
  menu.replaceChildren(...items);
  menu.hidden = false;
  menu.style.left = Math.max(8, Math.min(x, innerWidth - menu.offsetWidth - 8)) + "px";
  menu.style.top = Math.max(8, Math.min(y, innerHeight - menu.offsetHeight - 8)) + "px";
  document.addEventListener("pointerdown", outside);
  items[0].focus({ preventScroll: true });
}

function meta(view) {
  const time = clock.format(view.date * 1000);
  return el("span", { class: "meta", title: new Date(view.date * 1000).toLocaleString() },
    view.edited ? el("span", { class: "edited" }, "edited") : "", el("time", {}, time), view.out ? ticks() : "");
}

function topicLabel(view, actions) {
  const name = view.thread ? actions.topicName(view.thread) : "";
  return name ? el("div", { class: "topic" }, name) : "";
}

function reply(view, actions) {
  if (!view.reply) return "";
  return el("button", { type: "button", class: "answers", onclick: () => actions.jump(view.reply.id) },
    el("b", {}, view.reply.from), el("span", {}, view.reply.text));
}

function photo(view) {
  if (!view.photo) return "";
  const { url, width, height } = view.photo;
  const scale = Math.min(1, 540 / width, 420 / height);
  const open = () => {
    const img = $("viewer").querySelector("img");
    img.className = "";
    img.src = url;
    $("viewer").showModal();
  };
  return el("button", { type: "button", class: "photo", "aria-label": "Open the picture", onclick: open },
    el("img", { src: url, width: Math.round(width * scale), height: Math.round(height * scale), alt: "Photo" }));
}

function file(view) {
  if (!view.file) return "";
  return el("a", { class: "file", href: view.file.url, download: view.file.name },
    el("i", {}, icon("file")), el("span", {}, el("b", {}, view.file.name), el("small", {}, size(view.file.size))));
}

function voice(view) {
  if (!view.voice) return "";
  return el("div", { class: "file" }, el("i", {}, icon("voice")),
    el("span", {}, el("b", {}, "Voice message"), el("small", {}, view.voice + " s")));
}

function size(bytes) {
  if (bytes < 1024) return bytes + " B";
  const kb = bytes / 1024;
  return kb < 1024 ? kb.toFixed(1) + " KB" : (kb / 1024).toFixed(1) + " MB";
}

function reactions(view, end) {
  if (!view.reactions) return "";
  const chips = view.reactions.map((r) =>
    el("span", { class: r.mine ? "mine" : "" }, r.emoji, r.count > 1 ? el("em", {}, String(r.count)) : ""));
  return el("div", { class: "text" }, el("div", { class: "reactions" }, ...chips), end);
}

function keyboard(view) {
  if (!view.keyboard) return "";
  return el("div", { class: "keyboard" }, ...view.keyboard.map((row) => el("div", {}, ...row.map((b) => key(view.id, b)))));
}

function key(id, button) {
  if (button.url) {
    const node = el("a", { href: safe(button.url), target: "_blank", rel: "noopener noreferrer", class: button.style }, button.text);
    const corner = icon("out", 10);
    corner.setAttribute("class", "corner");
    node.append(corner);
    return node;
  }
  const node = el("button", { type: "button", class: button.style, disabled: button.disabled }, button.text);
  if (button.copy) node.addEventListener("click", () => copy(button.copy));
  if (button.data) {
    node.dataset.key = id + ":" + button.data;
    node.addEventListener("click", () => tap(id, button, node));
    if (waiting.has(node.dataset.key)) node.classList.add("waiting");
  }
  return node;
}

function safe(address) {
  try {
    const url = new URL(address);
    if (["http:", "https:", "tg:"].includes(url.protocol)) return url.href;
  } catch { /* not an address */ }
  return undefined;
}

export function answer(event) {
  answered(event.query);
  if (!event.text) return;
  if (!event.alert) { toast(event.text); return; }
  $("alert").querySelector("p").textContent = event.text;
  if (!$("alert").open) $("alert").showModal();
}
