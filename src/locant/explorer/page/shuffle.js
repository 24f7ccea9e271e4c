// A sentence and the same words shuffled: do the outputs just follow their words, or do they change?

import { button, text } from "./controls.js";
import { el, fill } from "./dom.js";
import { Figure } from "./figure.js";
import { extent, joined, matrix } from "./plots.js";
import { request, latest } from "./request.js";

const SENTENCE = "the cat chased the mouse";
const SHOWN = 32; // dimensions of the outputs that are drawn

export function shuffle({ size, sides, chosen, named, change }) {
  const results = el("div", {});
  let parts = {};
  const words = () => (chosen.words ?? SENTENCE).split(/\s+/).filter(Boolean);
  // The chosen order if it fits the sentence, else none: the server then chooses an order that tells.
  const order = () => {
    const indices = (chosen.order ?? "").split(",").filter((one) => one !== "").map(Number);
    return [...indices].sort((a, b) => a - b).join() === [...words().keys()].join() ? indices.join(",") : "";
  };
  const shuffled = el("ol", { class: "words", "aria-label": "the shuffled sentence" });

  const drawSide = async (side) => {
    const { verdict, original, restored, list } = parts[side];
    const label = named[chosen[side]].label;
    try {
      const got = await request("shuffle", { ...size(side), words: words().join(" "), order: order() });
      fill(shuffled, ...got.order.map((at) => el("li", {}, got.words[at])));
      verdict.textContent = `${label}: ${got.verdict}`;
      fill(list, ...got.words.map((word, at) => el("li", {}, `${word}: ${got.follow ? "0" : (100 * got.change[at]).toPrecision(2)} %`)));
      const few = (rows) => rows.map((row) => row.slice(0, SHOWN));
      const ends = joined([extent(few(got.original)), extent(few(got.restored))]);
      const both = [[original, got.original, "outputs for the sentence"], [restored, got.restored, "outputs for the shuffled sentence, in the original order"]];
      for (const [figure, rows, title] of both) {
        figure.show(() => matrix(few(rows), { title: `${label}: ${title}`, down: "", across: "dimension", ends, label: "output", rows: got.words }));
      }
    } catch (problem) {
      verdict.textContent = problem.message;
      fill(list);
      fill(shuffled);
      for (const figure of [original, restored]) figure.explain("");
    }
  };

  const draw = latest(() => Promise.all(sides().map(drawSide)));

  function clear() {
    for (const { original, restored } of Object.values(parts)) { original.end(); restored.end(); }
  }

  function rebuild() {
    clear();
    parts = Object.fromEntries(sides().map((side) => {
      const figure = (name) => new Figure(() => `${named[chosen[side]].label}-${name}`, { height: 240 });
      return [side, { verdict: el("p", { class: "verdict" }), list: el("ul", { class: "words", "aria-label": "how much each word's output changed" }), original: figure("outputs"), restored: figure("outputs-shuffled") }];
    }));
    fill(results, ...Object.values(parts).map(({ verdict, list, original, restored }) => el("section", {}, verdict, list, el("div", { class: "pair" }, original.element, restored.element))));
  }

  // Any order but the original one.
  function reshuffle() {
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
    el("p", { class: "fine" }, "The words go through a small model (two layers with random weights), in this order and in another. The number beside a word says how much its output changed."),
    el("div", { class: "controls" }, sentence.element, button("Shuffle", reshuffle)), shuffled, results);
  return { element, draw, rebuild, clear };
}
