// The conversation: rows in order, groups, date pills, scrolling.
import { $, icon } from "./dom.js";
import { message } from "./message.js";

const scroll = $("scroll");
const list = $("list");
const down = $("down");
const views = new Map(); // message id → view
let actions;
let thread = 0; // the topic that is shown; 0 is everything
let unread = 0;
let atEnd = true;
let lastTop = 0;

export function start(given) {
  actions = { ...given, jump, topicName: (id) => (thread ? "" : given.topicName(id)) };
  down.append(icon("down"));
  down.addEventListener("click", () => toEnd(true));
  scroll.addEventListener("scroll", watch, { passive: true });
  // The keyboard of a phone, a growing composer and loading pictures must not hide the newest message.
  const keep = new ResizeObserver(() => { if (atEnd) toEnd(); });
  keep.observe(scroll);
  keep.observe(list);
}

export function reset(all) {
  views.clear();
  for (const view of all) views.set(view.id, view);
  draw();
}

export function show(topic) {
  thread = topic;
  draw();
}

export function put(view) {
  const known = views.get(view.id);
  views.set(view.id, view);
  if (!visible(view)) return;
  const node = message(view, actions);
  const old = row(view.id);
  const stick = atEnd || (view.out && !known);
  if (known && old) {
    keepOpen(old, node);
    old.replaceWith(node);
  } else {
    node.classList.add("fresh");
    insert(node, view.id);
    if (!atEnd && !view.out) unread++;
  }
  arrange();
  if (stick) toEnd(); else watch();
}

export function remove(id) {
  views.delete(id);
  row(id)?.remove();
  arrange();
  watch();
}

const visible = (view) => !thread || view.thread === thread;
const row = (id) => list.querySelector(`[data-id="${id}"]`);

function insert(node, id) {
  const after = [...list.querySelectorAll("[data-id]")].find((other) => Number(other.dataset.id) > id);
  if (after) after.before(node); else list.append(node);
}

function draw() {
  list.replaceChildren();
  for (const view of [...views.values()].sort((a, b) => a.id - b.id)) {
    if (visible(view)) list.append(message(view, actions));
  }
  arrange();
  toEnd();
}

// keepOpen carries what the person opened over to the new drawing of a message.
function keepOpen(old, node) {
  const pairs = [[".quoted", (a, b) => b.classList.toggle("folded", a.classList.contains("folded"))],
    [".spoiler", (a, b) => b.classList.toggle("shown", a.classList.contains("shown"))]];
  for (const [selector, carry] of pairs) {
    const before = old.querySelectorAll(selector);
    node.querySelectorAll(selector).forEach((now, i) => {
      if (before[i] && before[i].textContent === now.textContent) carry(before[i], now);
    });
  }
}

// arrange puts the pills between days and marks the first and last bubble of each group.
function arrange() {
  for (const pill of list.querySelectorAll(".date")) pill.remove();
  let before = null;
  for (const node of list.querySelectorAll("[data-id]")) {
    const view = views.get(Number(node.dataset.id));
    const newDay = !before || day(before) !== day(view);
    const joined = before && !newDay && !view.service && !before.service && before.out === view.out && view.date - before.date < 600;
    node.classList.toggle("first", !joined);
    before?.node.classList.toggle("last", !joined);
    if (newDay) node.before(pill(view));
    before = { ...view, node };
  }
  before?.node.classList.add("last");
  $("empty").hidden = views.size > 0;
}

const day = (view) => new Date(view.date * 1000).toDateString();

function pill(view) {
  const node = document.createElement("div");
  node.className = "date";
  const date = new Date(view.date * 1000);
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  if (date.toDateString() === new Date().toDateString()) node.textContent = "Today";
  else if (date.toDateString() === yesterday.toDateString()) node.textContent = "Yesterday";
  else node.textContent = date.toLocaleDateString("en", { month: "long", day: "numeric" });
  return node;
}

// watch finds out whether the person reads the end. Only scrolling up leaves it: a picture that loads below does not.
function watch() {
  const top = scroll.scrollTop;
  if (scroll.scrollHeight - top - scroll.clientHeight < 60) atEnd = true;
  else if (top < lastTop) atEnd = false;
  lastTop = top;
  if (atEnd) unread = 0;
  down.hidden = atEnd;
  down.querySelector("b")?.remove();
  if (unread > 0) {
    const count = document.createElement("b");
    count.textContent = unread;
    down.append(count);
  }
}

function toEnd(smooth) {
  atEnd = true;
  scroll.scrollTo({ top: scroll.scrollHeight, behavior: smooth ? "smooth" : "instant" });
  if (!smooth) watch();
}

function jump(id) {
  const node = row(id);
  if (!node) return;
  node.scrollIntoView({ block: "center", behavior: "smooth" });
  node.classList.remove("flash");
  requestAnimationFrame(() => node.classList.add("flash"));
  setTimeout(() => node.classList.remove("flash"), 1300);
}
