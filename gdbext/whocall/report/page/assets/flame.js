// A flame graph of all threads: outermost frames at the bottom, width by threads. A click makes a
// box as wide as the graph; only boxes that can be seen are in the page.

const FLAME_ROW = 20;
const FLAME_DEPTH = 160;
const FLAME_NARROWEST = 0.003; // of the width

class Flame {
  constructor(host) {
    this.title = el("h2", { id: "flame-title" }, "Flame graph of all threads");
    this.back = el("button", { type: "button", onclick: () => this.zoom(this.tree) }, "All threads");
    this.box = el("div.flame", { role: "group", "aria-labelledby": "flame-title" });
    this.told = el("p.quiet.told");
    put(host, el("div.head", {}, this.title, this.back), this.box, this.told);
    this.box.addEventListener("keydown", (event) => this.key(event));
    onPlace((before) => {
      if (before.crash === place.crash && this.tree) return;
      this.grow();
      this.zoom(this.tree);
    });
  }

  grow() {
    const crash = crashNow();
    this.tree = { name: "all", module: "", count: 0, kids: new Map(), parent: null, depth: 0 };
    for (const { stack, threads } of crash.groups) {
      let node = this.tree;
      node.count += threads.length;
      for (const number of this.chain(crash.stacks[stack])) {
        const one = crash.places[number];
        const name = nameOf(one);
        const key = `${name}\n${one.module || ""}`;
        let next = node.kids.get(key);
        if (!next) {
          next = { name, module: lastPart(one.module), count: 0, kids: new Map(), parent: node,
            depth: node.depth + 1 };
          node.kids.set(key, next);
        }
        next.count += threads.length;
        node = next;
      }
    }
  }

  // Outermost first; of a recursion what the list of frames shows of it, of deep stacks the outer part.
  chain(stack) {
    const kept = [];
    let at = stack.frames.length;
    for (const [begin, end] of [...stack.gaps].reverse()) {
      for (at -= 1; at >= end && kept.length < FLAME_DEPTH; at -= 1) kept.push(stack.frames[at]);
      at = begin;
    }
    for (at -= 1; at >= 0 && kept.length < FLAME_DEPTH; at -= 1) kept.push(stack.frames[at]);
    return kept;
  }

  zoom(node) {
    this.root = node;
    this.back.hidden = node === this.tree;
    this.made = new Map();
    const rows = [];
    const lay = (one, left, width, row) => {
      if (width < FLAME_NARROWEST) return;
      (rows[row] = rows[row] || []).push({ node: one, left, width, row });
      let at = left;
      for (const kid of [...one.kids.values()].sort((a, b) => b.count - a.count)) {
        const share = width * kid.count / one.count;
        lay(kid, at, share, row + 1);
        at += share;
      }
    };
    lay(node, 0, 1, 0);
    this.boxes = rows.flat();
    this.box.style.height = `${rows.length * FLAME_ROW}px`;
    fill(this.box, this.boxes.map((laid) => this.draw(laid, rows.length)));
    this.hold(this.boxes[0]);
    this.tell(node);
  }

  draw({ node, left, width, row }, height) {
    const made = el("button.box", { type: "button", tabindex: "-1",
      "aria-label": `${node.name}, ${count(node.count)} of ${plural(this.tree.count, "thread")}`,
      onclick: () => this.zoom(node), onfocus: () => this.tell(node),
      onmouseenter: () => this.tell(node) }, node === this.tree ? plural(node.count, "thread")
      : node.name);
    made.style.left = `${left * 100}%`;
    made.style.width = `calc(${width * 100}% - 1px)`;
    made.style.bottom = `${row * FLAME_ROW}px`;
    made.style.setProperty("--hue", String(this.hue(node)));
    this.made.set(node, made);
    return made;
  }

  hue(node) {
    let hash = 7;
    for (const letter of node.module || node.name) hash = (hash * 31 + letter.charCodeAt(0)) % 9973;
    return 18 + hash % 38;
  }

  tell(node) {
    const where = node.module ? ` (${node.module})` : "";
    this.told.textContent = node === this.tree ? "Each box is a function, as wide as its share of the threads."
      : `${node.name}${where}: ${count(node.count)} of ${plural(this.tree.count, "thread")}`;
  }

  hold(laid) {
    for (const made of this.made.values()) made.tabIndex = -1;
    this.held = laid.node;
    this.made.get(laid.node).tabIndex = 0;
  }

  key(event) {
    const here = this.boxes.find((laid) => this.made.get(laid.node) === event.target);
    if (!here) return;
    const near = (row) => this.boxes.filter((laid) => laid.row === row);
    const over = (laid) => laid.left < here.left + here.width && laid.left + laid.width > here.left;
    let next = null;
    if (event.key === "ArrowUp") next = near(here.row + 1).find(over);
    else if (event.key === "ArrowDown") next = near(here.row - 1).find(over);
    else if (event.key === "ArrowLeft") next = near(here.row).filter((o) => o.left < here.left).pop();
    else if (event.key === "ArrowRight") next = near(here.row).find((o) => o.left > here.left);
    else if (event.key === "Escape") return this.zoom(this.tree);
    else return;
    event.preventDefault();
    if (next) {
      this.hold(next);
      this.made.get(next.node).focus();
    }
  }
}
