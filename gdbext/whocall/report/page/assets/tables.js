// What happened, gdb's own backtrace, the modules, the memory map, warnings.

// What reporters of crashes note, and how it is called here.
const KEPT_OF_COMMAND = 79;
const NOTED = { command: "Command", time: "Time", host: "Host", unit: "Unit", package: "Package",
  reason: "Reason", system: "System", writer: "Written by" };

class Happened {
  constructor(host) {
    this.host = host;
    onPlace((before) => before.crash === place.crash && this.done || this.show());
  }

  show() {
    this.done = true;
    const crash = crashNow();
    const told = crash.happened;
    const first = crash.modules.find((module) => module.is_executable);
    document.title = data.title;
    fill(
      this.host,
      crashes.length > 1 ? this.chooser() : "",
      el("h1", {}, told.signal ? el("span.signal", {}, told.signal) : "", short(told.sentence, withCode)),
      told.facts.length ? el("ul.causes", {}, told.facts.map((fact, index) =>
        el("li", {}, index ? [el("span.cause", {}, short(sentence(fact.text), withCode)), " "]
          : "", el("span.quiet", {}, short(sentence(fact.proof), withCode))))) : "",
      el("div.columns", {}, factList([
        ["Program", crash.source.exe || (first ? first.path : told.program)],
        ["Command", this.command(crash)],
        ["Core", crash.source.core || "a running process"],
        ["Core written", crash.origin.time ? "" : crash.written],
        ["Build id", first && first.build_id_in_memory ? el("code", {}, first.build_id_in_memory) : ""],
        ["Machine", crash.arch],
        ...Object.entries(crash.origin).filter(([name]) => name in NOTED && name !== "command").map(([name, text]) =>
          [NOTED[name], text]),
      ]), factList([
        ["Stopped at", addressLink(told.pc)],
        ["Instruction", told.instruction ? el("code", {}, withCode(told.instruction)) : ""],
        ["Address of the fault", told.fault_address ? [addressLink(told.fault_address),
          told.signal_meaning ? `: ${told.signal_meaning}` : ""] : ""],
        ["Process", crash.pid ? `${crash.pid}, ${plural(crash.threads.length, "thread")}`
          : plural(crash.threads.length, "thread")],
      ])),
      crash.warnings.length ? el("ul.warnings", {}, crash.warnings.map((text) => el("li", {}, text))) : "",
      crash.left_out.length ? el("p.quiet", {}, `Not in this report: ${crash.left_out.join("; ")}.`) : "",
    );
  }

  command(crash) {
    if (crash.origin.command) return el("code", {}, crash.origin.command);
    const line = crash.happened.command_line;
    if (!line) return "";
    return [el("code", {}, line), line.length < KEPT_OF_COMMAND ? "" : el("span.quiet", {},
      ` (the first ${KEPT_OF_COMMAND} characters, which a core keeps)`)];
  }

  choose(crash) {
    const thread = crashes[crash].main;
    go({ crash, thread, level: crashes[crash].first(thread) });
  }

  chooser() {
    const choice = el("select", { id: "crash", onchange: (event) =>
      this.choose(event.target.selectedIndex) },
    crashes.map((crash, index) => el("option", { selected: index === place.crash },
      `${index + 1} of ${crashes.length}: ${crash.happened.program}, ${
        lastPart(crash.source.core)}: ${crash.happened.sentence.slice(0, 110)}`)));
    return el("p.chooser", {}, el("label", { for: "crash" }, "Crash "), choice);
  }
}

function sentence(text) {
  const whole = text.trim().replace(/\.$/, "");
  return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}.`;
}

class GdbTable {
  constructor(host) {
    this.host = host;
    this.note = el("p.quiet");
    this.summary = el("p.summary");
    this.box = el("div");
    put(host, el("div.head", {}, el("h2", {}, "gdb’s own backtrace beside it")), this.summary, this.box,
      this.note);
    this.list = new VirtualList(this.box, {
      row: [26, 68], label: "whocall’s frames beside gdb’s", most: 0.6,
      render: (index, made) => this.render(index, made),
    });
    onPlace((before) => {
      if (before.crash === place.crash && this.rows) return;
      const found = crashNow().comparison;
      this.host.hidden = !found;
      this.rows = found ? found.rows : [];
      if (found) {
        this.summary.textContent = found.summary;
        fill(this.note, withCode([found.explanation, found.gdb_stop ? `gdb stopped: ${found.gdb_stop}`
          : "", found.left_out ? `${count(found.left_out)} rows are left out.` : ""].filter(Boolean).join(" ")));
      }
      this.list.set(this.rows.length);
    });
  }

  render(index, made) {
    const crash = crashNow();
    const { verdict, level, gdb } = this.rows[index];
    made.classList.add("compared", verdict.replaceAll(" ", "-"));
    const ours = level === null ? el("span.quiet.none", {}, "—") : el("button.name", { type: "button",
      onclick: () => { go({ thread: crash.main, level }); jump({}); } }, `#${level} `,
      middle(nameOf(crash.placeAt(crash.main, level))));
    const theirs = gdb === null ? el("span.quiet", {}, "—") : el("span.gdb", {}, `#${gdb.level} `,
      addressLink(gdb.pc), " ", gdb.signal_trampoline ? "<signal handler called>" : middle(gdb.function || "??"));
    put(made, el("span.verdict", {}, verdict), ours, theirs);
  }
}

const MODULE_HEADS = ["File", "State", "Addresses", "Unwind tables", "Names", "Build id"];

class ModuleTable {
  constructor(host) {
    this.host = host;
    onPlace((before) => before.crash === place.crash && this.done || this.show());
  }

  show() {
    this.done = true;
    const modules = crashNow().modules;
    const lacking = modules.filter((one) => one.remedy).length;
    fill(this.host, el("div.head", {}, el("h2", { id: "modules-title" }, "Modules ", el("span.quiet", {},
      `${plural(modules.length, "file")}, ${lacking ? `${lacking} with something missing` : "none missing"}`))),
    el("div.scroll", { tabindex: "0", role: "region", "aria-labelledby": "modules-title" },
      el("table.grid.modules", {}, el("thead", {}, el("tr", {}, MODULE_HEADS.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, modules.map((one) => this.rows(one))))));
  }

  rows(one) {
    const cell = (column, ...held) => el("td", { "data-label": MODULE_HEADS[column] }, held);
    const names = Object.entries(one.symbol_sources || {}).filter(([source]) =>
      !["fde", "call-target", "none"].includes(source)).map(([source, number]) =>
      `${count(number)} ${source}`).join(", ");
    const share = one.code_bytes ? `${Math.floor(100 * one.cfi_bytes / one.code_bytes)} %`
      : one.code_bytes === 0 ? "no code" : "?";
    const state = one.state === "found" ? "found" : one.state === "in memory" ? "memory" : "bad";
    return [
      el("tr", {}, el("th.path", { scope: "row" }, one.path,
        one.file && one.file !== one.path ? el("span.quiet", {}, ` ${one.file}`) : "",
        one.debug_file ? el("span.quiet", {}, ` debug: ${one.debug_file}`) : ""),
      cell(1, el(`span.state.${state}`, {}, one.state)),
      cell(2, addressLink(one.begin), "–", addressLink(one.end)),
      cell(3, share), cell(4, names || "none"),
      cell(5, el("code.id", {}, one.build_id_in_memory || one.build_id_on_disk || "none"))),
      one.remedy ? el("tr.remedy", {}, el("td", { colspan: "6" }, sentence(one.remedy))) : "",
    ];
  }
}

class MemoryMap {
  constructor(host) {
    const box = el("div");
    const summary = el("summary", {}, "Memory map");
    const folded = el("details", {}, summary, box);
    put(host, folded);
    const list = new VirtualList(box, { row: [24, 42], label: "Memory map", most: 0.5,
      render: (index, made) => {
        const one = crashNow().mappings[index];
        made.classList.add("mapping");
        put(made, addressLink(one.begin), addressLink(one.end), el("code", {}, one.permissions),
          el("span", {}, one.path || ""));
      } });
    const lay = () => folded.open && list.set(crashNow().mappings.length);
    folded.addEventListener("toggle", lay);
    onPlace(() => {
      summary.textContent = `Memory map: ${plural(crashNow().mappings.length, "mapping")}`;
      lay();
    });
  }
}
