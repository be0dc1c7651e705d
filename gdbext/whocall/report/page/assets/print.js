// What only paper shows: a report of several crashes tells the others in short behind the chosen one.

class Others {
  constructor(host) {
    this.host = host;
    window.addEventListener("beforeprint", () => this.show());
    window.addEventListener("afterprint", () => fill(this.host));
  }

  show() {
    const others = crashes.filter((crash) => crash !== crashNow());
    fill(this.host, others.map((crash) => el("article", {},
      el("h2", {}, shortened(crash.happened.sentence)),
      el("p.quiet", {}, crash.source.core || ""),
      el("ul.causes", {}, crash.happened.facts.map((fact) => el("li", {}, sentence(fact.proof)))),
      el("ol.chain", {}, this.frames(crash)))));
  }

  frames(crash) {
    const stack = crash.stackOf(crash.main);
    return stack.frames.slice(0, PRINTED).map((number, level) => {
      const one = crash.places[number];
      return el(`li.frame.${one.trust}`, {}, el("span.level", {}, `#${level}`),
        el("span.function", {}, nameOf(one), el("span.handed", {},
          ` ${handedOf(crash.detail(crash.main, level))}`), el("span.offset", {}, offsetOf(one))),
        el("span.where", {}, whereOf(one)), el(`span.trust.${one.trust}`, {}, one.trust));
    });
  }
}
