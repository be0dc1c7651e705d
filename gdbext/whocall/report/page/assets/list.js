// Pages of many crashes: the search leaves of rows and sections those that hold all of its words.

class Sought {
  constructor(input) {
    this.input = input;
    this.all = [...document.querySelectorAll(".sought")];
    this.texts = new Map(this.all.map((one) => [one, one.textContent.toLowerCase()]));
    this.lists = [...document.querySelectorAll(".matches")].map((told) => ({ told,
      whole: told.textContent, section: told.closest("section") }));
    input.addEventListener("input", () => this.look());
    input.addEventListener("keydown", (event) => event.key === "Escape" && this.seek(""));
    for (const link of document.querySelectorAll("[data-seek]")) {
      link.addEventListener("click", () => this.seek(link.dataset.seek));
    }
    searchByKey(input);
    this.look();
  }

  seek(text) {
    this.input.value = text;
    this.look();
  }

  // A row and a section of one bucket are one thing: both stay where one of them has the words.
  look() {
    const words = this.input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const has = (one) => words.every((word) => this.texts.get(one).includes(word));
    const fitting = new Set(this.all.filter(has));
    const groups = new Set([...fitting].map((one) => one.dataset.of).filter(Boolean));
    for (const one of this.all) one.hidden = !fitting.has(one) && !groups.has(one.dataset.of);
    let found = 0;
    for (const { told, whole, section } of this.lists) {
      const left = section.querySelectorAll(".sought:not([hidden])").length;
      told.textContent = words.length ? `${count(left)} of ${whole}` : whole;
      found += left;
    }
    if (words.length) say(found ? plural(found, "result") : "Nothing found");
  }
}

theme();
new Sought(byId("search"));
for (const one of document.querySelectorAll(".shorten")) fill(one, short(one.textContent));
// In a link there is no room for a button.
for (const one of document.querySelectorAll(".shorten-link")) fill(one, shortened(one.textContent));
