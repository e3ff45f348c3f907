// The composer: text, reply, files, and the list of commands above it.
import { $, el, icon, post, toast } from "./dom.js";

const text = $("text");
const popup = $("commands");
let commands = [];
let shown = []; // the commands in the popup
let chosen = -1;
let menuOpen = false;
let replyTo = null;
let editing = null; // the message of one's own that the text replaces
let thread = 0;
let last = Promise.resolve(); // the text on its way

export function start() {
  $("send").append(icon("send"));
  $("attach").append(icon("attach"));
  $("voice").append(icon("voice"));
  $("voice").addEventListener("click", speak);
  $("menu").querySelector(".glyph").append(icon("menu", 18));
  const cancel = $("replying").querySelector("button");
  cancel.append(icon("close", 18));
  cancel.addEventListener("click", leave);
  text.addEventListener("input", changed);
  text.addEventListener("keydown", pressed);
  text.addEventListener("paste", pasted);
  $("send").addEventListener("click", submit);
  $("menu").addEventListener("click", () => { menuOpen = !menuOpen; suggest(); text.focus(); });
  $("attach").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => { upload([...$("file").files]); $("file").value = ""; });
  document.addEventListener("click", (e) => {
    if (!e.target.closest("#commands, #menu, #text")) close();
  });
  if (matchMedia("(pointer: fine)").matches) text.focus();
}

export function setCommands(list) {
  commands = list || [];
  $("menu").hidden = commands.length === 0;
  suggest();
}

export function setThread(id) { thread = id; }

export function reply(view) {
  replyTo = view;
  editing = null;
  about(view, view?.from);
}

// edit puts a text of one's own into the composer, to be changed.
export function edit(view) {
  replyTo = null;
  editing = view;
  text.value = view.text;
  changed();
  about(view, "Edit");
}

// leave ends a reply or an edit.
function leave() {
  if (editing) { text.value = ""; changed(); }
  reply(null);
}

// about says above the composer which message the text is about.
function about(view, title) {
  $("replying").hidden = !view;
  if (!view) return;
  $("replying").querySelector(".quote").replaceChildren(el("b", {}, title), view.text || view.file?.name || (view.voice ? "Voice message" : "Photo"));
  text.focus();
}

async function speak() {
  const to = replyTo;
  reply(null);
  if (!await post("/page/voice", { thread, reply: to?.id || 0 })) reply(to);
}

// send posts a text, whatever stands in the composer. Texts go one after the other, in the order they were sent.
export function send(body) {
  const to = replyTo;
  reply(null);
  last = last.then(() => deliver(body, to));
  return last;
}

async function deliver(body, to) {
  const answer = await post("/page/send", { text: body, thread, reply: to?.id || 0 });
  if (!answer) reply(to);
  return answer !== null;
}

// submit empties the composer at once, so that the next text can be typed; a text that did not get through comes back.
async function submit() {
  const body = text.value;
  if (!body.trim()) return;
  const old = editing;
  if (old) {
    if (await post("/page/edit", { id: old.id, text: body }) && editing === old) leave();
    return;
  }
  close();
  text.value = "";
  changed();
  text.focus();
  if (!await send(body)) {
    text.value = body + text.value;
    changed();
  }
}

function changed() {
  text.style.height = "auto";
  text.style.height = text.scrollHeight + "px";
  $("send").disabled = !text.value.trim();
  $("menu").querySelector(".label").hidden = text.value !== "";
  menuOpen = false;
  suggest();
}

function pressed(e) {
  if (e.isComposing) return; // Enter of an input method picks a character
  if (!popup.hidden && move(e)) {
    e.preventDefault();
    return;
  }
  if (e.key === "Enter" && !e.shiftKey && !e.ctrlKey && !e.altKey) {
    e.preventDefault();
    submit();
  }
  if (e.key === "Escape") leave();
}

// move handles the keys of the open list; true means that the key was meant for it.
function move(e) {
  switch (e.key) {
    case "ArrowDown": choose(chosen + 1); return true;
    case "ArrowUp": choose(chosen - 1); return true;
    case "Escape": close(); return true;
    case "Tab": complete(shown[Math.max(chosen, 0)]); return true;
    case "Enter":
      if (chosen < 0 || e.shiftKey) return false;
      pick(shown[chosen]);
      return true;
  }
  return false;
}

function suggest() {
  const typed = /^\/([a-z0-9_]*)$/i.exec(text.value);
  shown = menuOpen ? commands : typed ? commands.filter((c) => c.command.startsWith(typed[1].toLowerCase())) : [];
  chosen = -1;
  popup.hidden = shown.length === 0;
  $("menu").setAttribute("aria-expanded", String(menuOpen));
  popup.replaceChildren(...shown.map((c) =>
    el("button", { type: "button", role: "option", "aria-selected": "false", onclick: () => pick(c) },
      el("b", {}, "/" + c.command), el("span", {}, c.description))));
  if (!popup.hidden && !menuOpen) choose(0);
}

function choose(index) {
  chosen = (index + shown.length) % shown.length;
  [...popup.children].forEach((node, i) => node.setAttribute("aria-selected", String(i === chosen)));
  popup.children[chosen].scrollIntoView({ block: "nearest" });
}

function close() {
  menuOpen = false;
  popup.hidden = true;
  $("menu").setAttribute("aria-expanded", "false");
}

function complete(command) {
  text.value = "/" + command.command + " ";
  changed();
  text.focus();
}

function pick(command) {
  if (text.value.startsWith("/")) text.value = "";
  changed();
  close();
  text.focus();
  send("/" + command.command);
}

function pasted(e) {
  const files = [...e.clipboardData.files];
  if (files.length === 0) return;
  e.preventDefault();
  upload(files);
}

async function upload(files) {
  const to = replyTo;
  for (const file of files) {
    const form = new FormData();
    form.append("file", file);
    form.append("caption", text.value.trim());
    form.append("thread", thread);
    form.append("reply", to?.id || 0);
    if (!await post("/page/upload", form)) return;
    text.value = "";
    reply(null);
    changed();
    toast("Sent " + file.name);
  }
}
