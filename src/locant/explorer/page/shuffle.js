// A sentence and the same words shuffled: do the outputs just follow their words, or do they change?

import { ask, latest } from "./ask.js";
import { button, text } from "./controls.js";
import { el, fill } from "./dom.js";
import { extent, joined, matrix } from "./draw.js";
import { Figure } from "./figure.js";

const SENTENCE = "the cat chased the mouse";
const SHOWN = 32; // dimensions of the outputs that are drawn

export function shuffle({ size, sides, chosen, named, change }) {
  const results = el("div", {});
  let places = {};
  const words = () => (chosen.words ?? SENTENCE).split(/\s+/).filter(Boolean);
  // What was asked for when it fits the sentence, else nothing: the server then chooses an order that tells.
  const order = () => {
    const asked = (chosen.order ?? "").split(",").filter((one) => one !== "").map(Number);
    return [...asked].sort((a, b) => a - b).join() === [...words().keys()].join() ? asked.join(",") : "";
  };
  const shuffled = el("ol", { class: "words", "aria-label": "the shuffled sentence" });

  const drawSide = async (side) => {
    const { verdict, straight, back, list } = places[side];
    const label = named[chosen[side]].label;
    try {
      const got = await ask("shuffle", { ...size(side), words: words().join(" "), order: order() });
      fill(shuffled, ...got.order.map((at) => el("li", {}, got.words[at])));
      verdict.textContent = `${label}: ${got.verdict}`;
      fill(list, ...got.words.map((word, at) => el("li", {}, `${word}: ${got.follow ? "0" : (100 * got.change[at]).toPrecision(2)} %`)));
      const few = (rows) => rows.map((row) => row.slice(0, SHOWN));
      const ends = joined([extent(few(got.straight)), extent(few(got.back))]);
      const both = [[straight, got.straight, "outputs of the sentence"], [back, got.back, "of the shuffled one, put back"]];
      for (const [figure, rows, said] of both) {
        figure.show(() => matrix(few(rows), { title: `${label}: ${said}`, down: "", across: "dimension", ends, label: "output", rows: got.words }));
      }
    } catch (problem) {
      verdict.textContent = problem.message;
      fill(list);
      fill(shuffled);
      for (const figure of [straight, back]) figure.say("");
    }
  };

  const draw = latest(() => Promise.all(sides().map(drawSide)));

  function clear() {
    for (const { straight, back } of Object.values(places)) { straight.end(); back.end(); }
  }

  function rebuild() {
    clear();
    places = Object.fromEntries(sides().map((side) => {
      const figure = (name) => new Figure(() => `${named[chosen[side]].label}-${name}`, { height: 240 });
      return [side, { verdict: el("p", { class: "verdict" }), list: el("ul", { class: "words", "aria-label": "by how much each word's output changed" }), straight: figure("outputs"), back: figure("outputs-shuffled") }];
    }));
    fill(results, ...Object.values(places).map(({ verdict, list, straight, back }) => el("section", {}, verdict, list, el("div", { class: "pair" }, straight.element, back.element))));
  }

  // Any order but the one that was there at first.
  function again() {
    const left = [...words().keys()];
    const first = left.join();
    while (left.length > 1 && left.join() === first) {
      for (let at = left.length - 1; at > 0; at -= 1) {
        const other = Math.floor(Math.random() * (at + 1));
        [left[at], left[other]] = [left[other], left[at]];
      }
    }
    change("order", left.join(","));
    draw();
  }

  const sentence = text("sentence", chosen.words ?? SENTENCE, (value) => { change("words", value); draw(); }, { maxlength: "400" });
  const element = el("section", { "aria-label": "Shuffle a sentence" },
    el("h2", {}, "Shuffle a sentence"),
    el("p", { class: "fine" }, "The words go through a small model (two layers, drawn at random), in this order and in another. The number beside a word says by how much its output changed."),
    el("div", { class: "controls" }, sentence.element, button("Shuffle", again)), shuffled, results);
  return { element, draw, rebuild, clear };
}
