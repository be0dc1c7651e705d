// The stack as it lies: a head for each frame, and below it its words, lowest address first.

const WORD_ROW = [24, 44]; // px, wide and narrow

class WordList {
  constructor(host) {
    this.title = el("h2", {}, "The stack as it lies");
    this.note = el("p.quiet");
    this.box = el("div");
    put(host, el("div.head", {}, this.title), this.note, this.box);
    this.list = new VirtualList(this.box, {
      row: WORD_ROW,
      label: "Words of the stack, lowest address first",
      render: (index, made) => this.render(index, made),
      most: 0.6,
    });
    onPlace((before) => {
      if (before.crash !== place.crash || before.thread !== place.thread || !this.rows) this.lay();
      else this.list.refresh();
    });
  }

  lay() {
    const crash = crashNow();
    const details = crash.detailsOf.get(place.thread);
    this.rows = [];
    this.rowOf = new Map();
    let last = -1;
    for (const frame of details ? details.frames : []) {
      if (frame.level !== last + 1) this.rows.push({ skipped: frame.level - last - 1 });
      last = frame.level;
      this.rows.push({ head: frame });
      frame.words.forEach((word, at) => {
        if (at === frame.cut_at) this.rows.push({ cut: frame.word_count - frame.words.length, frame });
        this.rowOf.set(word[0], this.rows.length);
        this.rows.push({ word, frame });
      });
    }
    const lwp = crash.threads[place.thread].lwp;
    fill(this.note, details ? "Each word with what it is known to be, or looks like." : [
      "The words of this thread’s stack are not in this report: ",
      el("code", {}, `whocall bt CORE --thread ${lwp} --full`)]);
    this.box.hidden = !details;
    this.list.set(this.rows.length);
  }

  reveal(address) {
    const row = this.rowOf.get(address);
    if (row === undefined) return;
    this.marked = address;
    this.box.scrollIntoView({ block: "nearest" });
    this.list.focus(row);
    this.list.refresh();
  }

  render(index, made) {
    const row = this.rows[index];
    const crash = crashNow();
    if (row.skipped) return put(made, el("span.quiet.between", {},
      `… ${plural(row.skipped, "frame")} without their words …`));
    if (row.cut) {
      made.classList.add(crash.placeAt(place.thread, row.frame.level).trust);
      return put(made, el("span.quiet.between", {}, `… ${plural(row.cut, "word")} left out …`));
    }
    return row.head ? this.head(crash, row.head, made) : this.word(crash, row, made);
  }

  head(crash, frame, made) {
    const one = crash.placeAt(place.thread, frame.level);
    made.classList.add("wordhead", one.trust);
    if (frame.level === place.level) made.classList.add("chosen");
    return put(made,
      el("button.name", { type: "button", onclick: () => go({ level: frame.level }) },
        el("span.level", {}, `#${frame.level} `), middle(nameOf(one)), el("span.offset", {}, offsetOf(one))),
      el("span.quiet", {}, frame.searched === null || frame.searched === undefined ? ""
        : `${count(frame.searched)} bytes were searched`),
      frame.cfa && !one.inlined ? el("span.quiet.cfa", {}, "CFA ", addressLink(frame.cfa)) : "");
  }

  word(crash, { word: [address, value, kind, text], frame }, made) {
    made.classList.add("word", crash.placeAt(place.thread, frame.level).trust);
    if (frame.level === place.level) made.classList.add("chosen");
    if (address === this.marked || address === place.address) made.classList.add("target");
    const shown = value === null ? el("span.quiet", {}, "—")
      : addressLink(value, padded(value, { pointer_size: crash.word_size }));
    return put(made, addressLink(address), shown, el(`span.meaning.${kind}`, {}, text));
  }
}
