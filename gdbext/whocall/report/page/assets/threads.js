// All threads, those with equal stacks folded into one row.

const THREAD_ROW = [44, 60]; // px, wide and narrow

class ThreadList {
  constructor(host) {
    this.title = el("h2", {}, "Threads");
    this.folded = el("input", { type: "checkbox", id: "fold", checked: true });
    this.folded.checked = true;
    this.folded.addEventListener("change", () => this.lay());
    this.box = el("div");
    put(host, el("div.head", {}, this.title, el("label.check", { for: "fold" }, this.folded,
      " equal stacks folded")), this.box);
    this.list = new VirtualList(this.box, {
      row: THREAD_ROW,
      label: "Threads",
      render: (index, made) => this.render(index, made),
      most: 0.55,
    });
    onPlace((before) => {
      if (before.crash !== place.crash || !this.rows) this.lay();
      else this.list.refresh();
    });
  }

  lay() {
    const crash = crashNow();
    this.rows = this.folded.checked ? crash.groups
      : crash.threads.map((thread, index) => ({ stack: thread.stack, threads: [index] }));
    fill(this.title, "Threads ", el("span.quiet", {}, `${plural(crash.threads.length, "thread")}, ${
      plural(new Set(crash.groups.map((group) => group.stack)).size, "different stack")}`));
    this.list.set(this.rows.length);
  }

  render(index, made) {
    const crash = crashNow();
    const { stack, threads } = this.rows[index];
    const first = crash.threads[threads[0]];
    const chosen = threads.includes(place.thread);
    made.classList.add("thread");
    if (chosen) made.classList.add("chosen");
    if (first.crashed) made.classList.add("crashed");
    const title = threads.length === 1 ? threadTitle(first)
      : `Threads ${runs(threads.map((at) => crash.threads[at].number))}`;
    const names = [...new Set(threads.slice(0, 500).map((at) => crash.threads[at].name))]
      .filter(Boolean).slice(0, 3).map((name) => `“${name}”`).join(", ");
    put(made,
      el("span.count", {}, threads.length > 1 ? `${count(threads.length)}×` : ""),
      el("button.name", { type: "button", "aria-current": chosen ? "true" : null,
        onclick: () => this.choose(threads) },
        el("span.line", {}, title, first.crashed ? el("span.signal", {}, first.signal || "crashed") : "",
          threads.length > 1 && names ? el("span.quiet", {}, ` ${names}`) : ""),
        el("span.line.gist", {}, gist(crash, stack))),
      el("span.quiet.depth", {}, plural(crash.stacks[stack].frames.length, "frame")));
  }

  choose(threads) {
    go({ thread: threads[0], level: crashNow().first(threads[0]) });
    jump({});
  }
}
