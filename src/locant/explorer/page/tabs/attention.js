// Attention: what a small model attends to with each encoding, by layer and head, before and after training.

import { checkboxes, choice, slider, text } from "../controls.js";
import { el, fill } from "../dom.js";
import { Figure } from "../figure.js";
import { extent, lines, weights } from "../plots.js";
import { request, latest } from "../request.js";
import { colors } from "../theme.js";

const DEFAULTS = { of: "", words: "the cat chased the mouse into the garden", back: "1", when: "before", layer: "1", head: "1", rows: "" };
const LAYERS = 2;
const HEADS = 4;

export function build(root, start, given, save) {
  const chosen = { ...DEFAULTS, ...given };
  const known = new Map();
  const figures = new Map();
  let open = true;
  let round = 0;
  const studies = {};
  const window = new Figure(() => `window-${chosen.of}`, { height: 220 });
  window.element.classList.add("above");
  const grid = el("div", { class: "many" });
  const explanation = el("p", { class: "fine", role: "status" });
  const filter = el("div", {});
  const change = (name, value) => {
    chosen[name] = String(value);
    save(Object.fromEntries(Object.entries(chosen).filter(([key, one]) => DEFAULTS[key] !== one)));
  };

  const every = () => (chosen.of ? (studies[chosen.of]?.attention ?? []).map((name) => [name, name]) : start.encodings.map((one) => [one.name, one.label]));
  const shown = () => every().filter(([name]) => !chosen.rows || chosen.rows.split("|").includes(name));

  function question(name) {
    const trained = chosen.when === "after";
    return chosen.of
      ? ["window", { study: chosen.of, row: name, trained }]
      : ["attention", { encoding: name, words: chosen.words, back: chosen.back, trained }];
  }

  function draw(name, label, got) {
    const figure = figures.get(name);
    const layer = got.weights[Math.min(Number(chosen.layer), got.weights.length) - 1];
    const values = layer[Math.min(Number(chosen.head), layer.length) - 1];
    const accuracy = typeof got.accuracy === "number" ? `, accuracy ${Math.round(100 * got.accuracy)} %` : "";
    figure.show(() => weights(values, { title: `${label}, ${chosen.when} training${accuracy}`, names: got.words ?? (got.tokens?.length <= 32 ? got.tokens.map(String) : null) }));
    if (got.series) window.show(() => lines({ "": [{ name: "value", x: got.series.map((_, at) => at), y: got.series, color: colors().ink }] },
      { title: `the example: its first feature (seed ${got.seed})`, across: "step", down: "value", ends: extent(got.series) }));
  }

  const load = latest(async () => {
    const mine = round;
    for (const [name, label] of shown()) {
      const wanted = question(name);
      const key = JSON.stringify(wanted);
      if (!known.has(key)) figures.get(name)?.explain(`${label}: ${chosen.when === "after" && !chosen.of ? "training, a few seconds…" : "…"}`);
    }
    for (const [name, label] of shown()) {
      const wanted = question(name);
      const key = JSON.stringify(wanted);
      if (!known.has(key)) await request(...wanted).then((got) => known.set(key, got), (problem) => figures.get(name)?.explain(`${label}: ${problem.message}`));
      if (!open || mine !== round) return; // a newer request has been made
      if (known.has(key) && figures.has(name)) draw(name, label, known.get(key));
    }
  });
  const refresh = () => { round += 1; load(); };

  function rebuild() {
    for (const figure of figures.values()) figure.end();
    figures.clear();
    for (const [name, label] of shown()) figures.set(name, new Figure(() => `attention-${label}-${chosen.when}-layer${chosen.layer}-head${chosen.head}`, { height: 300 }));
    fill(grid, ...[...figures.values()].map((figure) => figure.element));
    fill(filter, checkboxes("show", every(), shown().map(([name]) => name), (names) => { change("rows", names.join("|")); rebuild(); }).element);
    window.element.hidden = !chosen.of;
    sentence.element.hidden = back.element.hidden = Boolean(chosen.of);
    explanation.textContent = chosen.of
      ? "The study's model of each encoding on the example of the first seed, before and after its training. Each row of a figure is a query: it shows how much weight each key gets."
      : `A causal model with ${LAYERS} layers and ${HEADS} heads, with random weights or trained for a few seconds to name the word that stands ${chosen.back} word${chosen.back === "1" ? "" : "s"} back in sequences of random words. Each row of a figure is a query: it shows how much weight each key gets.`;
    refresh();
  }

  const set = (name, changesText) => (value) => { change(name, value); if (changesText) rebuild(); else refresh(); };
  const sentence = text("sentence", chosen.words, set("words"), { maxlength: "400" });
  const back = slider("words back", { min: 1, max: 4, value: Number(chosen.back), onInput: set("back", true) });
  const source = el("div", { class: "double" });
  root.append(
    el("div", { class: "controls" }, source,
      choice("weights", [["before", "before training"], ["after", "after training"]], chosen.when, set("when")).element,
      slider("layer", { min: 1, max: LAYERS, value: Number(chosen.layer), onInput: set("layer") }).element,
      slider("head", { min: 1, max: HEADS, value: Number(chosen.head), onInput: set("head") }).element,
      back.element, sentence.element),
    filter, explanation, window.element, grid);

  /** Ask for a study when it is chosen: describing all of them takes seconds each. */
  async function choose(id) {
    change("of", id);
    if (id && !studies[id]) {
      fill(grid);
      explanation.textContent = "Reading the study…";
      const got = await request("study", { study: id }).catch((problem) => ({ problem: problem.message }));
      if (!open || chosen.of !== id) return;
      if (!got.attention?.length) {
        explanation.textContent = got.problem ?? "The runs of this study kept no attention.";
        return;
      }
      studies[id] = got;
    }
    rebuild();
  }

  async function begin() {
    const listed = await request("studies").catch(() => ({ studies: [] }));
    if (!open) return;
    if (!listed.studies.some(({ id }) => id === chosen.of)) chosen.of = "";
    const inputs = [["", "a sentence"], ...listed.studies.map(({ id }) => [id, `example of ${id}`])];
    fill(source, choice("input", inputs, chosen.of, (id) => { change("rows", ""); choose(id); }).element);
    choose(chosen.of);
  }
  begin();
  return { close: () => { open = false; window.end(); for (const figure of figures.values()) figure.end(); } };
}
