// The report's data, and the questions that the parts of the page ask it.

const data = JSON.parse(byId("data").textContent);

const TRUST = {
  context: ["certain", "the thread's own registers, or those that the kernel saved for a handler"],
  cfi: ["as good as the compiler", "an unwind table that the compiler wrote"],
  analysis: ["very likely", "the instructions of the function, followed to this address"],
  "frame-pointer": ["likely", "the chain of saved frame pointers"],
  scan: ["a hint, it can be wrong", "no rule led on: the stack was searched"],
};

const EVIDENCE = {
  "call-before": "a call instruction ends at the return address",
  "call-target": "that call leads to the function that it came back from",
  "cfa-up": "the stack pointer moves towards the stack’s base",
  "frame-pointer": "the frame pointer names the same return address",
  "caller-goes-on": "the rules of the caller lead to an acceptable caller in turn",
  signal: "the kernel interrupted it there",
  "return-replaced": "its address replaced the return address of the frame below",
  "call-elsewhere": "the call before it is not known to lead to the frame below",
  "damaged-return": "what the stack holds of its address was overwritten in part: one call near"
    + " it may have led there",
};

const SOURCES = {
  symtab: "the symbol table",
  dynsym: "the dynamic symbols",
  "debug-file": "a separate debug file",
  "gnu-debugdata": "the compressed symbols in the file",
  pclntab: "Go’s function table",
  objc: "the tables of Objective-C’s methods",
  plt: "a stub of an imported function",
  "symbol-file": "a list of names that was given",
  "jit-object": "what a JIT compiler registered",
  jitdump: "a JIT compiler’s dump",
  "perf-map": "a JIT compiler’s perf map",
  entry: "what the start-up code hands on: concluded",
  vtable: "type information of a class: concluded",
  signature: "the code of a static library: recognised",
  frametable: "the frame tables of OCaml’s runtime: concluded",
  message: "a message that the code hands to the C library: concluded",
  initializer: "the list of initialisers: concluded",
  registration: "a table that registers it under a name: concluded",
  fde: "the unwind table: its start alone is known",
  "call-target": "a call that leads there: its start alone is known",
};

// How a value that a function was handed is known.
const HANDED = {
  both: "the frame holds it still, and its caller put the same there",
  callee: "the frame holds it still",
  "call-site": "its caller put it there",
  now: "memory holds it now, and may have changed since",
};

class Crash {
  constructor(held) {
    Object.assign(this, held);
    this.detailsOf = new Map(this.details.map((one) => [one.thread, one]));
    this.levels = new Map(); // of threads with details: level -> details of the frame
    for (const one of this.details) {
      this.levels.set(one.thread, new Map(one.frames.map((frame) => [frame.level, frame])));
    }
  }

  stackOf(thread) {
    return this.stacks[this.threads[thread].stack];
  }

  placeAt(thread, level) {
    return this.places[this.stackOf(thread).frames[level]];
  }

  detail(thread, level) {
    const levels = this.levels.get(thread);
    return (levels && levels.get(level)) || null;
  }

  // The level to show first of a thread: of the one that crashed the program's own frame.
  first(thread) {
    const most = Math.max(this.stackOf(thread).frames.length - 1, 0);
    return thread === this.main ? Math.min(this.happened.level, most) : 0;
  }

  // Frames of all threads that stand at an address: [thread, level], the first of each stack.
  framesAt(address, most = 20) {
    const found = [];
    const wanted = new Set();
    this.places.forEach((one, number) => one.pc === address && wanted.add(number));
    if (!wanted.size) return found;
    for (const group of this.groups) {
      const frames = this.stacks[group.stack].frames;
      for (let level = 0; level < frames.length && found.length < most; level += 1) {
        if (wanted.has(frames[level])) found.push([group.threads[0], level]);
      }
    }
    return found;
  }

  // Words of the stacks by address and by value.
  get words() {
    if (!this.wordsFound) {
      this.wordsFound = { at: new Map(), holding: new Map() };
      for (const one of this.details) {
        for (const frame of one.frames) {
          for (const [address, value] of frame.words) {
            const where = { thread: one.thread, level: frame.level, address };
            this.wordsFound.at.set(address, where);
            if (!value) continue;
            if (!this.wordsFound.holding.has(value)) this.wordsFound.holding.set(value, []);
            this.wordsFound.holding.get(value).push(where);
          }
        }
      }
    }
    return this.wordsFound;
  }

  within(list, address) {
    const wanted = BigInt(address);
    return list.find((one) => BigInt(one.begin) <= wanted && wanted < BigInt(one.end)) || null;
  }

  moduleAt(address) {
    return this.within(this.modules, address);
  }

  mappingAt(address) {
    return this.within(this.mappings, address);
  }
}

const crashes = data.crashes.map((held) => new Crash(held));
const crashNow = () => crashes[place.crash];

function nameOf(one) {
  if (one.signal_trampoline) return "<signal handler called>";
  return one.function === null ? "??" : one.function + (one.inferred ? "?" : "");
}

const offsetOf = (one) => (one.offset && !one.inlined ? `+${one.offset}` : "");

function whereOf(one) {
  if (one.source) {
    return lastPart(one.source.file) + (one.source.line === null ? "" : `:${one.source.line}`);
  }
  const near = hintsOf(one).find((hint) => hint.near);
  return near ? `near ${lastPart(near.file)}:${near.line}?` : lastPart(one.module);
}

// Places in the source that the code itself names, where no line is known.
const hintsOf = (one) => one.source ? [] : one.source_hints;

// "(0x55d5e786d060, 3, "late")": what the function was handed; empty where that is not known.
function handedOf(detail) {
  if (!detail || !detail.arguments) return "";
  return `(${detail.arguments.map((each) => each.shown).join(", ")})`;
}

function threadTitle(thread) {
  const name = thread.name ? ` “${thread.name}”` : "";
  return `Thread ${thread.number}${name}, LWP ${thread.lwp}`;
}

// "read ← loop ← worker": what a stack is told by where there is room for a line.
function gist(crash, stack, most = 4) {
  const names = [];
  for (const number of crash.stacks[stack].frames.slice(0, 40)) {
    const one = crash.places[number];
    const name = nameOf(one);
    if (names[names.length - 1] !== name && !one.signal_trampoline) names.push(name);
    if (names.length === most) break;
  }
  return names.join(" ← ") || "no frames";
}
