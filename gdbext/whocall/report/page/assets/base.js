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

// A text without what makes names long: arguments of templates, types of parameters, the middle of
// very long words.
const LONG_TEXT = 100;
const LONG_WORD = 80;
const NAME_END = 16;
const DEEPEST = 40; // templates within each other
const LEFT_OUT = "\u0001";

function shortened(text) {
  if (text.length <= LONG_TEXT) return text;
  let made = text.replaceAll(LEFT_OUT, "");
  let before = "";
  for (let depth = 0; depth < DEEPEST && before !== made; depth += 1) {
    before = made;
    made = made.replace(/(?<=[\w\u0001])(?<!operator)<[^<>]*>/g, LEFT_OUT);
  }
  return made.replace(/(?<=[\w\u0001])\([^()]{25,}\)/g, "(…)").replaceAll(LEFT_OUT, "<…>")
    .replace(new RegExp(`[^\\s/]{${LONG_WORD},}`, "g"), (word) =>
      `${word.slice(0, LONG_WORD - NAME_END)}…${word.slice(-NAME_END)}`);
}

// A name that may be long: where there is no room its middle gives way, as ends tell names apart.
const LONG_NAME = 40;

function middle(name) {
  if (name.length <= LONG_NAME) return name;
  const brief = shortened(name);
  return el("span.middle", { title: name }, el("span.begin", {}, brief.slice(0, -NAME_END)),
    el("span.rest", {}, brief.slice(-NAME_END)));
}

// A text that may be long: short at first, and in full where somebody asks for it. `show` makes of a
// text what stands on the page.
function short(text, show = (one) => one) {
  const brief = shortened(text);
  if (brief === text) return show(text);
  const held = el("span.brief", { title: text }, show(brief));
  const button = el("button.whole", { type: "button", "aria-expanded": "false", onclick: () => {
    const whole = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(whole));
    button.textContent = whole ? "shorter" : "in full";
    fill(held, show(whole ? text : brief));
  } }, "in full");
  return [held, " ", button];
}

// Light or dark by what the system says, until somebody chooses.
function theme() {
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
  });
}

// `/` goes to the search, but not while somebody writes.
function searchByKey(input) {
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}
