// All that is known of the chosen frame: where it is, how that is known, its code, its registers.

const MOST_HINTS = 6;
const ARGUMENT_HEADS = ["Argument", "In", "Value on entry", "How it is known"];

function factList(pairs) {
  return el("dl.facts", {}, pairs.filter(([, told]) => told !== null && told !== "").map(
    ([term, told]) => [el("dt", {}, term), el("dd", {}, told)]));
}

class FramePanel {
  constructor(host) {
    this.host = host;
    onPlace(() => this.show());
  }

  show() {
    const crash = crashNow();
    const stack = crash.stackOf(place.thread);
    if (!stack.frames.length) return fill(this.host, el("p.quiet", {}, "No frames are known."));
    const one = crash.placeAt(place.thread, place.level);
    const detail = crash.detail(place.thread, place.level);
    return fill(
      this.host,
      el("h3.title", {}, el("span.level", {}, `#${place.level} `), shortened(nameOf(one)),
        el("span.offset", {}, offsetOf(one))),
      this.facts(crash, one, detail),
      this.handed(crash, detail),
      this.knowledge(one, detail),
      this.listing(crash, one),
      this.registers(crash, one, detail),
    );
  }

  facts(crash, one, detail) {
    const source = one.source;
    const name = nameOf(one);
    return factList([
      ["Full name", shortened(name) === name ? "" : el("code", {}, name)],
      ["Address", one.inlined ? "inlined into the frame below" : addressLink(one.pc)],
      ["Source", source ? el("code", {}, `${source.file}${source.line === null ? "" : `:${
        source.line}`}`) : ""],
      ["Its code names", this.hints(one)],
      ["Module", one.module ? [one.module, one.rva ? ` at link address ${one.rva}` : ""] : "none"],
      ["Build id", one.build_id ? el("code", {}, one.build_id) : ""],
      ["Name from", one.name_source ? SOURCES[one.name_source] || one.name_source : ""],
      ["Also named", one.aliases.slice(0, 8).join(", ")],
      ["CFA", detail && detail.cfa ? addressLink(detail.cfa) : ""],
    ]);
  }

  // Of the places that the function names those near to the address come first.
  hints(one) {
    const all = [...hintsOf(one)].sort((a, b) => Number(b.near) - Number(a.near));
    const told = all.slice(0, MOST_HINTS).map((hint) => el("li", {},
      el("code", {}, `${hint.file}:${hint.line}`), hint.near ? " near here" : ""));
    return all.length ? el("ul", {}, told, all.length > MOST_HINTS
      ? el("li.quiet", {}, `and ${count(all.length - MOST_HINTS)} more`) : "") : "";
  }

  handed(crash, detail) {
    if (!detail || !detail.arguments || !detail.arguments.length) return "";
    return [el("h4", {}, "Arguments"), el("table.grid.arguments", {},
      el("thead", {}, el("tr", {}, ARGUMENT_HEADS.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, detail.arguments.map((each) => this.argument(crash, each))))];
  }

  argument(crash, each) {
    const known = each.value !== null;
    const value = known && each.shown.startsWith("0x")
      ? [addressLink(each.value), each.shown.slice(each.value.length)] : each.shown;
    return el("tr", {},
      el("th", { scope: "row", "data-label": ARGUMENT_HEADS[0] }, each.name || String(each.position + 1)),
      el("td", { "data-label": ARGUMENT_HEADS[1] }, each.register || "the stack"),
      el("td.value", { "data-label": ARGUMENT_HEADS[2] }, el("code", {}, value)),
      el("td", { "data-label": ARGUMENT_HEADS[3] }, known ? [el(`span.trust.${each.trust}`, {},
        each.trust), ` ${HANDED[each.trust]}`] : "not known"));
  }

  knowledge(one, detail) {
    const [sure, how] = TRUST[one.trust];
    const more = [];
    if (detail && detail.searched !== null) {
      more.push(`No rule led here: ${count(detail.searched)} bytes of stack were searched.`);
    }
    if (one.rests_on !== null && one.rests_on !== undefined) {
      more.push(`It rests on the search that found #${one.rests_on}, and is no surer.`);
    }
    if (detail && detail.explanation) more.push(detail.explanation);
    return el("section.knowledge", { "aria-label": "How this frame is known" },
      el("h4", {}, "How it is known"),
      el("p", {}, el(`span.trust.${one.trust}`, {}, one.trust), ` ${sure}: ${how}.`),
      one.evidence.length ? el("ul.evidence", {}, one.evidence.map((word) =>
        el("li", {}, EVIDENCE[word] || word))) : "",
      more.map((text) => el("p.quiet", {}, withCode(text))));
  }

  listing(crash, one) {
    if (!one.listing || !one.listing.length) {
      return one.inlined ? "" : el("p.quiet", {}, "No instructions can be read here.");
    }
    const current = one.interrupted ? one.listing.findIndex((row) => row[0] === one.pc)
      : one.listing.findIndex((row) => row[0] === one.pc) - 1;
    const rows = one.listing.map(([address, bytes, text, target, name], index) =>
      el(index === current ? "tr.current" : "tr", {},
        el("td", {}, index === current ? el("span", { "aria-label": one.interrupted
          ? "the next instruction" : "the call" }, "▸") : ""),
        el("td", {}, addressLink(address)),
        el("td.bytes", {}, bytes.replace(/../g, "$& ").trim()),
        el("td.text", {}, text || "(no instruction)",
          target ? el("span.target", {}, " ; ", addressLink(target, shortened(name || target))) : "")));
    return [el("h4", { id: "listing-title" }, "Instructions"),
      el("div.scroll", { tabindex: "0", role: "region", "aria-labelledby": "listing-title" },
        el("table.listing", {}, el("thead.hidden", {}, el("tr", {}, ["Here", "Address", "Bytes",
          "Instruction"].map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, rows)))];
  }

  registers(crash, one, detail) {
    const known = detail ? Object.entries(detail.registers) : [];
    if (!known.length) {
      const lwp = crash.threads[place.thread].lwp;
      return detail || one.inlined ? "" : el("p.quiet", {}, "Registers of this frame are not in ",
        "this report: ", el("code", {}, `whocall bt CORE --thread ${lwp} --full`));
    }
    return [el("h4", {}, "Registers"), el("div.registers", {}, known.map(([name, value]) =>
      el("span.register", {}, el("span.rname", {}, name), addressLink(value,
        padded(value, { pointer_size: crash.word_size })))))];
  }
}
