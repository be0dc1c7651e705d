// Search: functions, files, threads, modules, addresses. `/` goes there, arrows choose, Enter goes.

const MOST_FOUND = 60;

class Search {
  constructor() {
    this.input = byId("search");
    this.box = byId("found");
    this.items = [];
    this.chosen = -1;
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => setTimeout(() => this.shut(), 150));
    this.input.addEventListener("focus", () => this.look());
    searchByKey(this.input);
  }

  look() {
    const wanted = this.input.value.trim().toLowerCase();
    this.items = wanted ? [...this.addresses(wanted), ...this.frames(wanted), ...this.threads(wanted),
      ...this.modules(wanted)].slice(0, MOST_FOUND) : [];
    this.chosen = this.items.length ? 0 : -1;
    this.draw(wanted);
  }

  addresses(wanted) {
    if (!/^(0x)?[0-9a-f]{3,16}$/.test(wanted) || /^\d{1,5}$/.test(wanted)) return [];
    const address = `0x${BigInt(wanted.startsWith("0x") ? wanted : `0x${wanted}`).toString(16)}`;
    return [{ text: address, kind: "address", go: () => go({ address }) }];
  }

  frames(wanted) {
    const crash = crashNow();
    const fitting = new Set();
    crash.places.forEach((one, number) => {
      const source = one.source ? one.source.file : "";
      if (`${nameOf(one)}\n${one.aliases.join("\n")}\n${source}\n${one.pc}`.toLowerCase().includes(wanted)) {
        fitting.add(number);
      }
    });
    const found = [];
    for (const group of fitting.size ? crash.groups : []) {
      const frames = crash.stacks[group.stack].frames;
      const seen = new Set();
      for (let level = 0; level < frames.length && found.length < MOST_FOUND; level += 1) {
        if (!fitting.has(frames[level]) || seen.has(frames[level])) continue;
        seen.add(frames[level]);
        const thread = group.threads[0];
        const one = crash.places[frames[level]];
        found.push({ text: `${nameOf(one)}${offsetOf(one)}`, kind: `#${level}, thread ${
          crash.threads[thread].number}${group.threads.length > 1 ? ` and ${
          count(group.threads.length - 1)} more` : ""}`, go: () => { go({ thread, level }); jump({}); } });
      }
      if (found.length >= MOST_FOUND) break;
    }
    return found;
  }

  threads(wanted) {
    const crash = crashNow();
    const found = [];
    for (let at = 0; at < crash.threads.length && found.length < 20; at += 1) {
      const thread = crash.threads[at];
      const texts = [String(thread.number), String(thread.lwp), `thread ${thread.number}`];
      if (texts.includes(wanted) || (thread.name || "").toLowerCase().includes(wanted)) {
        found.push({ text: threadTitle(thread), kind: "thread",
          go: () => { go({ thread: at, level: 0 }); jump({}); } });
      }
    }
    return found;
  }

  modules(wanted) {
    return crashNow().modules.filter((one) => `${one.path}\n${one.build_id_in_memory || ""}`.toLowerCase()
      .includes(wanted)).map((one) => ({ text: one.path, kind: one.state,
      go: () => byId("modules").scrollIntoView() }));
  }

  draw(wanted) {
    this.box.hidden = !wanted;
    this.input.setAttribute("aria-expanded", String(Boolean(wanted)));
    fill(this.box, this.items.map((item, index) => el("li", { role: "option", id: `found-${index}`,
      "aria-selected": String(index === this.chosen), onmousedown: (event) => {
        event.preventDefault();
        this.take(index);
      } }, el("span", {}, item.text), el("span.quiet", {}, item.kind))));
    if (wanted && !this.items.length) put(this.box, el("li", { role: "option",
      "aria-selected": "false", "aria-disabled": "true" }, "Nothing found"));
    this.mark();
    if (wanted) say(`${this.items.length === MOST_FOUND ? "More than " : ""}${
      plural(this.items.length, "result")}`);
  }

  mark() {
    [...this.box.children].forEach((item, index) =>
      item.setAttribute("aria-selected", String(index === this.chosen)));
    if (this.chosen >= 0) {
      this.input.setAttribute("aria-activedescendant", `found-${this.chosen}`);
      this.box.children[this.chosen].scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : this.items.length - 1;
      if (this.items.length) this.chosen = (this.chosen + step) % this.items.length;
      this.mark();
      event.preventDefault();
    } else if (event.key === "Enter" && this.chosen >= 0) this.take(this.chosen);
    else if (event.key === "Escape") {
      this.input.value = "";
      this.shut();
      event.stopPropagation();
    }
  }

  take(index) {
    const item = this.items[index];
    this.shut();
    this.input.blur();
    item.go();
  }

  shut() {
    this.box.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
