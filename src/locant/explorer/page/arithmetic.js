// The arithmetic at a position, or between a query and a key, as the server works it out.

import { request, latest } from "./request.js";
import { el, fill } from "./dom.js";

export function arithmetic({ size, sides, chosen, named }) {
  const element = el("div", { class: "pair" });
  let cards = {};
  let marked = null;

  const drawSide = async (side) => {
    const card = cards[side];
    try {
      const { parts } = await request("worked", { ...size(side), position: chosen.position, key: chosen.key });
      fill(card, el("h3", {}, named[chosen[side]].label), ...parts.flatMap((part) => [
        el("p", { class: "fine" }, part.title),
        el("ol", { class: "lines", tabindex: "0", "aria-label": part.title }, ...part.lines.map((line) => el("li", {}, line))),
      ]));
    } catch (problem) {
      fill(card, el("p", { class: "reason" }, problem.message));
    }
    highlight();
  };

  function highlight() {
    if (marked === null) return;
    for (const line of element.querySelectorAll(".lines li")) {
      const now = new RegExp(`^dimension ${marked}\\b`).test(line.textContent);
      line.classList.toggle("now", now);
      if (now) line.parentElement.scrollTop = line.offsetTop - line.parentElement.offsetTop - 40;
    }
  }

  const draw = latest(() => Promise.all(sides().map(drawSide)));
  const rebuild = () => {
    cards = Object.fromEntries(sides().map((side) => [side, el("section", { class: "card worked", style: `--own:${named[chosen[side]].color}` })]));
    fill(element, ...Object.values(cards));
  };
  return { element, draw, rebuild, mark: (dimension) => { marked = dimension; } };
}
