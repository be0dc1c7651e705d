// Addresses as links, and the panel that tells what lies at one and where else the page has it.

function addressLink(address, shown) {
  if (!address) return "";
  return el("a.addr", { href: hashOf({ address }), "data-address": address }, shown || address);
}

// A sentence: what stands between two backticks is code, and addresses are links.
function withCode(text) {
  return text.split(/(`[^`]+`|\b0x[0-9a-f]{1,16}\b)/).map((piece, index) => {
    if (index % 2 === 0) return piece;
    return piece[0] === "`" ? el("code", {}, withCode(piece.slice(1, -1)))
      : addressLink(`0x${BigInt(piece).toString(16)}`, piece);
  });
}

const padded = (address, crash) => `0x${address.slice(2).padStart(crash.pointer_size * 2, "0")}`;

function whatLiesAt(crash, address) {
  const module = crash.moduleAt(address);
  const mapping = crash.mappingAt(address);
  const lines = [];
  if (module) {
    const offset = (BigInt(address) - BigInt(module.begin)).toString(16);
    lines.push(["Module", el("a", { href: "#modules" }, `${module.path}`), ` +0x${offset}`]);
    const link = BigInt.asUintN(64, BigInt(address) - BigInt(module.bias)).toString(16);
    lines.push(["Link address", el("code", {}, `0x${link}`)]);
  }
  if (mapping) {
    lines.push(["Memory", `${mapping.permissions} `, el("code", {},
      `${mapping.begin}–${mapping.end}`), ` ${mapping.path || "without a file"}`]);
  }
  if (!module && !mapping) lines.push(["Memory", "nothing is mapped there"]);
  return lines;
}

function sightings(crash, address) {
  const found = [];
  for (const [thread, level] of crash.framesAt(address)) {
    const one = crash.placeAt(thread, level);
    found.push([`frame #${level} of thread ${crash.threads[thread].number}: ${nameOf(one)}`,
      { thread, level }]);
  }
  crash.places.forEach((one, number) => {
    if (!one.listing || found.length > 30) return;
    const row = one.listing.find((line) => line[0] === address);
    if (!row || one.pc === address) return;
    const at = whereIsPlace(crash, number);
    if (at) found.push([`instruction ${row[2] || "(bytes)"} near frame #${at.level}`, at]);
  });
  const word = crash.words.at.get(address);
  if (word) found.push([`word of the stack, in frame #${word.level}`, toWord(word)]);
  for (const one of (crash.words.holding.get(address) || []).slice(0, 12)) {
    found.push([`held by the stack’s word at ${one.address}, in frame #${one.level}`,
      toWord(one)]);
  }
  return found;
}

const toWord = ({ thread, level, address }) => ({ thread, level, word: address });

function whereIsPlace(crash, number) {
  for (const group of crash.groups) {
    const level = crash.stacks[group.stack].frames.indexOf(number);
    if (level >= 0) return { thread: group.threads[0], level };
  }
  return null;
}

class AddressPanel {
  constructor(host) {
    this.host = host;
    onPlace(() => this.show());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && place.address) this.close();
    });
  }

  close() {
    const from = this.from;
    go({ address: null });
    if (from && from.isConnected) from.focus();
  }

  show() {
    this.host.hidden = !place.address;
    if (!place.address) return;
    const crash = crashNow();
    this.from = document.activeElement;
    const found = sightings(crash, place.address);
    fill(
      this.host,
      el("div.head", {},
        el("h2", { id: "where-title", tabindex: "-1" }, padded(place.address, crash)),
        el("button.plain", { type: "button", onclick: () => this.close(), "aria-label": "Close" },
          "×")),
      el("dl.facts", {}, whatLiesAt(crash, place.address).map(([term, ...told]) =>
        [el("dt", {}, term), el("dd", {}, told)])),
      found.length
        ? [el("h3", {}, "On this page"), el("ul.links", {}, found.map(([text, where]) =>
          el("li", {}, el("a", { href: hashOf(where), onclick: () => jump(where) }, text))))]
        : el("p.quiet", {}, "No frame, no instruction and no word of the stacks shown here has it."),
    );
    byId("where-title").focus({ preventScroll: true });
    say(`Address ${place.address}: ${plural(found.length, "place")} on this page`);
  }
}

// Where a link leads is seen: the frame, or the word in the picture of the stack.
function jump(where) {
  if (where.word) setTimeout(() => parts.words.reveal(where.word), 0);
  else setTimeout(() => byId("stack").scrollIntoView({ block: "start" }), 0);
}
