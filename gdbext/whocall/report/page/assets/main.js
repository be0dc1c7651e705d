// The page put together.

const SECTIONS = [
  ["happened", "What happened"],
  ["stack", "Call stack"],
  ["words", "Stack words"],
  ["threads", "Threads"],
  ["flame", "Flame graph"],
  ["gdb", "gdb"],
  ["modules", "Modules"],
];

const parts = {};

function section(id, label) {
  return el("section", { id, "aria-label": label });
}

function build() {
  const report = byId("main");
  const made = Object.fromEntries(SECTIONS.map(([id, label]) => [id, section(id, label)]));
  const frames = el("div.frames");
  const panel = el("aside.panel", { "aria-label": "The chosen frame" });
  put(made.stack, frames, panel);
  const where = el("aside", { id: "where", "aria-label": "What lies at an address", hidden: true });
  const memory = section("memory", "Memory map");
  const others = el("section", { id: "others", "aria-label": "Further crashes" });
  fill(report, Object.values(made), memory, others, where);
  parts.happened = new Happened(made.happened);
  parts.stack = new StackList(frames);
  parts.frame = new FramePanel(panel);
  parts.words = new WordList(made.words);
  parts.threads = new ThreadList(made.threads);
  parts.flame = new Flame(made.flame);
  parts.gdb = new GdbTable(made.gdb);
  parts.modules = new ModuleTable(made.modules);
  parts.memory = new MemoryMap(memory);
  parts.where = new AddressPanel(where);
  parts.others = new Others(others);
  parts.search = new Search();
  onPlace(() => fill(byId("sections"), SECTIONS.filter(([id]) => !byId(id).hidden)
    .map(([id, label]) => el("a", { href: `#${id}` }, label))));
}

build();
theme();
window.addEventListener("hashchange", follow);
follow();
