// Small builders. Text always goes in as text nodes: nothing here parses HTML.

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== ""));
  return node;
}

export const $ = (id) => document.getElementById(id);

const shapes = {
  send: ["M4 12l16-8-6 17-3.5-6.5z", "M10.5 14.5L20 4"],
  attach: ["M20 11.5l-8.3 8.3a5 5 0 0 1-7.1-7.1l8.6-8.6a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.8-7.8"],
  down: ["M5 9l7 7 7-7"],
  close: ["M6 6l12 12M18 6L6 18"],
  menu: ["M4 7h16M4 12h16M4 17h16"],
  copy: ["M9 9h11v11H9z", "M5 15V4h11"],
  check: ["M4 13l5 5L20 6"],
  file: ["M12 4v12M7 11l5 5 5-5M5 20h14"],
  voice: ["M12 3v10M8 7v6a4 4 0 0 0 8 0V7a4 4 0 0 0-8 0M5 12a7 7 0 0 0 14 0M12 19v3"],
  reply: ["M10 5L3 12l7 7v-4c6 0 9 1 11 5 0-7-4-11-11-11z"],
  edit: ["M4 20l1-5L16 4l4 4L9 19z"],
  out: ["M8 16L18 6M10 6h8v8"],
};

export function icon(name, size = 22) {
  return drawing(shapes[name], "0 0 24 24", size, size);
}

export function ticks() {
  return drawing(["M1 7l4 4 7-9", "M8 10l1 1 7-9"], "0 0 17 12", 17, 12);
}

function drawing(paths, box, width, height) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", box);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.setAttribute("aria-hidden", "true");
  for (const d of paths) {
    const path = document.createElementNS(space, "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

let toastTimer;
export function toast(text) {
  if (!text) return;
  const box = $("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.hidden = true; }, 1500 + 50 * text.length);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied");
  } catch {
    toast("The browser does not allow copying");
  }
}

export async function post(path, body) {
  const form = body instanceof FormData;
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: form ? {} : { "Content-Type": "application/json" },
      body: form ? body : JSON.stringify(body),
    });
    if (answer.ok) return await answer.json();
    toast(await answer.text());
  } catch {
    toast("Not connected: is ccbot still running?");
  }
  return null;
}
