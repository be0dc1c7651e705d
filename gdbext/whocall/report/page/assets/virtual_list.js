// A list of any length of which only what is seen is in the page; rows have one height, and another
// one where the window is narrow.
//
// `render(index)` makes the contents of a row; its first button or link takes the focus. Arrow,
// page, Home and End keys go from row to row; `onMove(index)` hears of that. For print the first
// rows are all there.

const PRINTED = 300;
const narrow = matchMedia("(max-width: 620px)"); // as page.css has it

class VirtualList {
  constructor(host, { row, label, render, onMove, most = 0.7 }) {
    this.heights = row;
    this.row = row[Number(narrow.matches)];
    this.render = render;
    this.onMove = onMove || (() => {});
    this.most = most;
    this.count = 0;
    this.active = 0;
    this.shown = new Map();
    this.inner = el("div.rows", { role: "list", "aria-label": label });
    this.host = host;
    host.classList.add("vlist");
    fill(host, this.inner);
    host.addEventListener("scroll", () => this.draw(), { passive: true });
    host.addEventListener("keydown", (event) => this.key(event));
    host.addEventListener("focusin", (event) => {
      const found = event.target.closest("[data-index]");
      if (found) this.hold(Number(found.dataset.index));
    });
    narrow.addEventListener("change", () => {
      this.row = this.heights[Number(narrow.matches)];
      this.set(this.count, this.active);
    });
    new ResizeObserver(() => this.draw()).observe(host);
    window.addEventListener("beforeprint", () => this.draw(true));
    window.addEventListener("afterprint", () => this.draw());
  }

  // Other contents: `count` rows, of which `active` can be focused.
  set(count, active = 0) {
    this.count = count;
    this.active = Math.min(active, Math.max(count - 1, 0));
    this.inner.style.height = `${count * this.row}px`;
    this.host.style.maxHeight = `${Math.round(window.innerHeight * this.most)}px`;
    this.clear();
    this.draw();
  }

  clear() {
    for (const made of this.shown.values()) made.remove();
    this.shown.clear();
  }

  // The same rows, made anew; the focus stays where it was.
  refresh() {
    const held = this.held();
    const made = this.shown.get(held);
    const which = made ? [...made.querySelectorAll("a,button")].indexOf(document.activeElement) : -1;
    this.clear();
    this.draw();
    if (which < 0 || held >= this.count) return;
    this.make(held);
    const target = this.shown.get(held).querySelectorAll("a,button")[which];
    if (target) target.focus({ preventScroll: true });
  }

  draw(print = false) {
    const top = this.host.scrollTop;
    const height = this.host.clientHeight || 400;
    const first = print ? 0 : Math.max(Math.floor(top / this.row) - 6, 0);
    const end = Math.min(print ? PRINTED : Math.ceil((top + height) / this.row) + 6, this.count);
    const kept = this.held();
    for (const [index, made] of this.shown) {
      if ((index < first || index >= end) && index !== kept) {
        made.remove();
        this.shown.delete(index);
      }
    }
    for (let index = first; index < end; index += 1) this.make(index);
    this.roving();
  }

  // The row with the focus stays, wherever one scrolls.
  held() {
    const focused = document.activeElement && document.activeElement.closest("[data-index]");
    return focused && this.inner.contains(focused) ? Number(focused.dataset.index) : -1;
  }

  make(index) {
    if (this.shown.has(index)) return;
    const made = el("div.row", {
      role: "listitem",
      "aria-setsize": this.count,
      "aria-posinset": index + 1,
      "data-index": index,
    });
    made.style.transform = `translateY(${index * this.row}px)`;
    made.style.height = `${this.row}px`;
    this.render(index, made);
    for (const one of made.querySelectorAll("a,button")) one.tabIndex = -1;
    this.shown.set(index, made);
    const after = [...this.shown.keys()].filter((key) => key > index).sort((a, b) => a - b)[0];
    this.inner.insertBefore(made, after === undefined ? null : this.shown.get(after));
  }

  hold(index) {
    this.active = index;
    this.roving();
  }

  // One row at a time is a stop of the tab key: the active one, or where that is out of sight the
  // first that is seen.
  roving() {
    const stop = this.shown.has(this.active) ? this.active : Math.min(...this.shown.keys());
    for (const [index, made] of this.shown) {
      for (const one of made.querySelectorAll("a,button")) {
        one.tabIndex = index === stop ? 0 : -1;
      }
    }
  }

  key(event) {
    const page = Math.max(Math.floor(this.host.clientHeight / this.row) - 1, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    let next = this.active;
    if (event.key in steps) next += steps[event.key];
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = this.count - 1;
    else return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.focus(Math.max(0, Math.min(next, this.count - 1)));
    this.onMove(this.active);
  }

  reveal(index) {
    const top = index * this.row;
    const height = this.host.clientHeight;
    if (top < this.host.scrollTop) this.host.scrollTop = top;
    else if (top + this.row > this.host.scrollTop + height) {
      this.host.scrollTop = top + this.row - height;
    }
    this.draw();
  }

  focus(index) {
    this.active = index;
    this.reveal(index);
    this.make(index);
    this.roving();
    const made = this.shown.get(index);
    const target = made && made.querySelector("button,a");
    if (target) target.focus({ preventScroll: true });
  }
}
