// Elements, numbers, and what every part of the page shares. Texts become text nodes, never markup.

// el("button.name.main", {type: "button", onclick: f, "aria-label": "x"}, "text", child, ...)
function el(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  put(made, ...children);
  return made;
}

function put(parent, ...children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === "") continue;
    parent.append(child instanceof Node ? child : String(child));
  }
  return parent;
}

function fill(parent, ...children) {
  parent.replaceChildren();
  return put(parent, ...children);
}

const byId = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en-US");
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
const lastPart = (path) => (path || "").slice((path || "").lastIndexOf("/") + 1);

// "2..4, 7": rising runs of three and more shortened; of very many only the first.
function runs(numbers, most = 12) {
  const parts = [];
  let at = 0;
  while (at < numbers.length && parts.length < most) {
    let end = at;
    while (end + 1 < numbers.length && numbers[end + 1] === numbers[end] + 1) end += 1;
    if (end - at >= 2) {
      parts.push(`${numbers[at]}..${numbers[end]}`);
      at = end + 1;
    } else {
      parts.push(String(numbers[at]));
      at += 1;
    }
  }
  return parts.join(", ") + (at < numbers.length ? ", …" : "");
}

// A sentence for people who hear the page.
function say(sentence) {
  byId("said").textContent = sentence;
}

// Where the reader is: crash, thread, frame, address; kept behind the # of the address bar.
const place = { crash: 0, thread: 0, level: 0, address: null };
const watchers = [];
const onPlace = (watcher) => watchers.push(watcher);

function hashOf(changes) {
  const next = { ...place, address: null, ...changes };
  const address = next.address ? `/a${next.address}` : "";
  return `#c${next.crash}/t${next.thread}/f${next.level}${address}`;
}

function go(changes) {
  const hash = hashOf(changes);
  if (location.hash === hash) follow();
  else location.hash = hash;
}

// Reads the address bar and tells everyone what changed.
function follow() {
  const told = /^#c(\d+)\/t(\d+)\/f(\d+)(?:\/a(0x[0-9a-f]+))?$/.exec(location.hash);
  const before = { ...place };
  if (told) {
    place.crash = Math.min(Number(told[1]), data.crashes.length - 1);
    const crash = data.crashes[place.crash];
    place.thread = Math.min(Number(told[2]), crash.threads.length - 1);
    const frames = crash.stacks[crash.threads[place.thread].stack].frames;
    place.level = Math.min(Number(told[3]), Math.max(frames.length - 1, 0));
    place.address = told[4] || null;
  } else if (location.hash && location.hash !== "#") {
    return; // a part of the page
  } else {
    Object.assign(place, { crash: 0, thread: data.crashes[0].main, level: 0, address: null });
  }
  for (const watcher of watchers) watcher(before);
}
