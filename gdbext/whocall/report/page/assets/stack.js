// The frames of the chosen thread, innermost first, in a list; a long recursion is told in one row
// that opens.

const FRAME_ROW = [30, 62]; // px, wide and narrow

class StackList {
  constructor(host) {
    this.host = host;
    this.opened = new Set();
    this.title = el("h2", { id: "stack-title" });
    this.box = el("div");
    this.end = el("p.quiet.stop");
    put(host, el("div.head", {}, this.title, this.legend()), this.box, this.end);
    this.list = new VirtualList(this.box, {
      row: FRAME_ROW,
      label: "Frames, innermost first",
      render: (index, made) => this.render(index, made),
      onMove: (index) => this.moved(index),
      most: 0.78,
    });
    onPlace((before) => this.follow(before));
  }

  legend() {
    const words = Object.entries(TRUST).map(([trust, [how]]) =>
      el(`span.trust.${trust}`, { title: `${how}: ${TRUST[trust][1]}` }, trust));
    return el("p.legend", {}, el("span.hidden", {}, "How surely frames are known, best first: "),
      words);
  }

  follow(before) {
    const crash = crashNow();
    const stack = crash.stackOf(place.thread);
    if (before.crash !== place.crash || before.thread !== place.thread || !this.rows) {
      this.opened.clear();
      this.lay(stack);
      this.describe(crash, stack);
    }
    let row = this.rowOf.get(place.level);
    if (row === undefined) {
      this.open(stack.gaps.find(([begin, end]) => begin <= place.level && place.level < end));
      row = this.rowOf.get(place.level);
    }
    this.list.active = row;
    this.list.refresh();
    this.list.reveal(row);
  }

  describe(crash, stack) {
    const thread = crash.threads[place.thread];
    const crashed = thread.crashed ? `, ${thread.signal || "crashed"}` : "";
    fill(this.title, "Call stack ", el("span.quiet", {}, `${threadTitle(thread)}${crashed} · ${
      plural(stack.frames.length + stack.left_out, "frame")}`));
    const more = stack.left_out ? `${count(stack.left_out)} more frames are not in this report. ` : "";
    fill(this.end, withCode(more + (stack.stop.text || "The stack ends here.")));
  }

  // A number for each row: a level, or -1 - n for the gap n.
  lay(stack) {
    this.rows = [];
    this.rowOf = new Map();
    let at = 0;
    const frame = (level) => {
      this.rowOf.set(level, this.rows.length);
      this.rows.push(level);
    };
    stack.gaps.forEach(([begin, end], number) => {
      for (; at < begin; at += 1) frame(at);
      this.rows.push(-1 - number);
      if (this.opened.has(number)) for (; at < end; at += 1) frame(at);
      at = end;
    });
    for (; at < stack.frames.length; at += 1) frame(at);
    this.list.set(this.rows.length);
  }

  open(gap) {
    const stack = crashNow().stackOf(place.thread);
    const number = stack.gaps.indexOf(gap);
    if (this.opened.has(number)) this.opened.delete(number);
    else this.opened.add(number);
    this.lay(stack);
  }

  toggle(number, row) {
    const top = this.list.host.scrollTop;
    this.open(crashNow().stackOf(place.thread).gaps[number]);
    this.list.host.scrollTop = top;
    this.list.focus(row);
  }

  moved(index) {
    const level = this.rows[index];
    if (level >= 0) go({ level });
  }

  render(index, made) {
    const level = this.rows[index];
    if (level < 0) return this.renderGap(-1 - level, index, made);
    const crash = crashNow();
    const one = crash.placeAt(place.thread, level);
    made.classList.add("frame", one.trust);
    const chosen = level === place.level;
    if (chosen) made.classList.add("chosen");
    const detail = crash.detail(place.thread, level);
    const searched = detail && detail.searched ? `, behind ${count(detail.searched)} bytes` : "";
    put(
      made,
      el("span.level", {}, `#${level}`),
      el("button.name", { type: "button", "aria-current": chosen ? "true" : null,
        onclick: () => go({ level }) },
        el("span.function", {}, middle(nameOf(one))), el("span.offset", {}, offsetOf(one)),
        el("span.more", {}, this.handed(detail), el("span.where", {}, whereOf(one)))),
      one.inlined ? el("span.addr.quiet", {}, "inlined") : addressLink(one.pc),
      el(`span.trust.${one.trust}`, {}, `${one.trust}${searched}`),
    );
    return made;
  }

  handed(detail) {
    const told = handedOf(detail);
    return told ? el("span.handed", { title: told }, ` ${told}`) : "";
  }

  renderGap(number, index, made) {
    const [begin, end, period] = crashNow().stackOf(place.thread).gaps[number];
    const open = this.opened.has(number);
    const above = period === 1 ? "the frame above" : `the ${period} frames above`;
    made.classList.add("gap");
    put(made, el("button.name", { type: "button", "aria-expanded": String(open),
      onclick: () => this.toggle(number, index) },
      `${open ? "▾" : "▸"} ${count(end - begin)} frames: ${above} repeated ${
        count(Math.floor((end - begin) / period))} times`));
    return made;
  }
}
