// The page: one stream of events from the server, and the parts that show them.
import { $, el, post } from "./dom.js";
import * as composer from "./composer.js";
import * as list from "./list.js";
import { answer } from "./message.js";

const doing = {
  typing: "typing", upload_photo: "sending a photo", upload_document: "sending a file", upload_video: "sending a video",
  record_voice: "recording", upload_voice: "sending a voice message",
};
let name = "";
let topics = [];
let topic = 0;
let group = false;
let online = false;
let action = "";
let actionTimer;
let missed = 0;

const handlers = {
  state(event) {
    const s = event.state;
    name = s.bot;
    $("name").textContent = name;
    online = s.online;
    topics = s.topics;
    group = s.group;
    composer.setCommands(s.commands);
    drawTopics();
    list.reset(s.messages);
    title();
    status();
  },
  message(event) {
    list.put(event.message);
    if (event.message.out) return;
    setAction("");
    if (document.hidden) { missed++; title(); }
  },
  delete: (event) => list.remove(event.id),
  action: (event) => setAction(event.text),
  answer,
  commands: (event) => composer.setCommands(event.commands),
  topics(event) { topics = event.topics || []; drawTopics(); },
  bot(event) { online = event.online; status(); },
};

function connect() {
  const stream = new EventSource("/page/events");
  stream.onmessage = (line) => {
    const event = JSON.parse(line.data);
    handlers[event.type]?.(event);
  };
  stream.onerror = () => {
    $("status").className = "";
    $("status").textContent = "connecting…";
  };
}

// setAction shows what the bot does; Telegram forgets it after 5 s or with the next message.
function setAction(kind) {
  action = doing[kind] || "";
  clearTimeout(actionTimer);
  if (action) actionTimer = setTimeout(() => setAction(""), 5500);
  status();
}

function status() {
  $("status").className = action ? "active" : "";
  $("status").textContent = action || (online ? "bot" : "waiting for the bot…");
}

function title() {
  document.title = (missed ? `(${missed}) ` : "") + name;
}

function drawTopics() {
  if (!topics.some((t) => t.id === topic)) topic = 0;
  $("topics").hidden = topics.length === 0;
  const tab = (id, label) => el("button", { type: "button", "aria-pressed": String(id === topic), onclick: () => open(id) }, label);
  const label = (t) => [t.icon, t.name, t.closed ? "(closed)" : ""].filter(Boolean).join(" ");
  $("topics").replaceChildren(tab(0, "All"), ...topics.map((t) => tab(t.id, label(t))));
  drawTools(topics.find((t) => t.id === topic));
}

// drawTools shows what a person can do with the open topic; a topic of a private chat cannot be closed.
function drawTools(t) {
  $("tools").hidden = !t;
  if (!t) return;
  const change = (what, name) => post("/page/topic", { thread: t.id, do: what, name });
  const tool = (label, run) => el("button", { type: "button", onclick: run }, label);
  const rename = () => { const to = prompt("Name of the topic", t.name); if (to) change("rename", to); };
  const shut = t.closed ? "Reopen" : "Close";
  $("tools").replaceChildren(tool("Rename", rename), group ? tool(shut, () => change(shut.toLowerCase())) : "",
    tool("Delete", () => change("delete")));
}

function open(id) {
  topic = id;
  composer.setThread(id);
  list.show(id);
  drawTopics();
}

list.start({ send: composer.send, reply: composer.reply, edit: composer.edit, topicName: (id) => topics.find((t) => t.id === id)?.name || "" });
composer.start();
for (const button of document.querySelectorAll("[data-send]")) {
  button.addEventListener("click", () => composer.send(button.dataset.send));
}
$("viewer").addEventListener("click", (e) => {
  if (e.target.tagName === "IMG" && !e.target.classList.contains("whole") && e.target.naturalWidth > e.target.width) e.target.classList.add("whole");
  else $("viewer").close();
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) { missed = 0; title(); } });
connect();
