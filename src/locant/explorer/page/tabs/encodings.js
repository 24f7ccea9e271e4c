// Encodings: one or two of them, at any size, in several pictures, with the arithmetic under the pointer.

import { arithmetic } from "../arithmetic.js";
import { card } from "../card.js";
import { checkboxes, choice, option, slider } from "../controls.js";
import { el, fill } from "../dom.js";
import { Figure } from "../figure.js";
import PLOTS, { joined } from "../plots.js";
import { request, latest } from "../request.js";
import { shuffle } from "../shuffle.js";
import { onChange, theme } from "../theme.js";

const DEFAULTS = { a: "sinusoidal", b: "", dim: "64", heads: "4", length: "100", head: "1", position: "3", key: "1", views: "heat,waves,similarity,score" };
const SIDES = ["a", "b"];
const REST = 150; // milliseconds

export function build(root, start, given, save) {
  const chosen = { ...DEFAULTS, ...given };
  const named = Object.fromEntries(start.encodings.map((one) => [one.name, one]));
  if (!named[chosen.a]) chosen.a = DEFAULTS.a;
  if (!named[chosen.b]) chosen.b = "";
  const figures = {};
  const sides = () => SIDES.filter((side) => chosen[side]);
  const own = (side) => { try { return JSON.parse(chosen[`of_${side}`] ?? "{}"); } catch { return {}; } };
  const size = (side) => ({ encoding: chosen[side], dim: chosen.dim, heads: chosen.heads, length: chosen.length, options: JSON.stringify(own(side)) });
  const pictures = Object.fromEntries(start.views.map((one) => [one.name, one]));
  const plotOf = (view) => PLOTS[pictures[view].plot]; // none: the server draws it
  const views = Object.keys(pictures);
  const shown = () => views.filter((view) => chosen.views.split(",").includes(view));

  const change = (name, value) => {
    chosen[name] = String(value);
    save(Object.fromEntries(Object.entries(chosen).filter(([key, one]) => DEFAULTS[key] !== one)));
  };
  const list = start.encodings.map((one) => [one.name, one.own ? `${one.label} (yours)` : one.label]);
  const { bounds } = start;
  const sizes = (name, label, more) => slider(label, { value: Number(chosen[name]), onInput: (value) => { change(name, value); fit(name); draw(); }, ...more });
  const heads = Math.log2(Number(chosen.heads));
  const step = () => 2 * Number(chosen.heads);
  const controls = {
    dim: sizes("dim", "width", { min: step(), max: bounds.dim, step: step() }),
    length: sizes("length", "length", { min: 2, max: bounds.length }),
    heads: slider("heads", { min: 0, max: Math.log2(bounds.heads), value: heads, format: (power) => String(2 ** power), onInput: (power) => { change("heads", 2 ** power); fit("heads"); draw(); } }),
    head: sizes("head", "bias of head", { min: 1, max: Number(chosen.heads) }),
    position: sizes("position", "position", { min: 0, max: Number(chosen.length) - 1 }),
    key: sizes("key", "key", { min: 0, max: Number(chosen.length) - 1 }),
  };
  // Keep the sliders that depend on another one within its limits.
  function fit(name) {
    if (name === "heads") {
      change("dim", controls.dim.set(Number(chosen.dim), { min: step(), step: step() }));
      change("head", controls.head.set(Number(chosen.head), { max: chosen.heads }));
    }
    if (name === "length") for (const one of ["position", "key"]) change(one, controls[one].set(Number(chosen[one]), { max: Number(chosen.length) - 1 }));
  }

  const cards = el("div", { class: "pair" });
  const grid = el("div", {});
  const worked = arithmetic({ size, sides, chosen, named });
  const sentence = shuffle({ size, sides, chosen, named, change, bounds });

  // The pointer is at a position, or at a distance between a query and a key.
  function point(view, at) {
    if (view === "heat") { change("position", controls.position.set(at.y)); worked.mark(at.x); }
    if (view === "similarity" || view === "bias") { change("position", controls.position.set(at.y)); change("key", controls.key.set(at.x)); }
    if (view === "score") { change("position", controls.position.set(Math.max(0, -at.x))); change("key", controls.key.set(Math.max(0, at.x))); }
    worked.draw();
  }

  const drawOne = async (view) => {
    const plot = plotOf(view);
    const image = plot ? "" : theme();
    const compared = sides();
    const answers = await Promise.all(compared.map((side) => request("view", { ...size(side), view, head: chosen.head, image }).catch((problem) => ({ reason: problem.message }))));
    const ends = plot ? joined(answers.filter((one) => one.numbers).map((one) => plot.extent(one.numbers))) : null;
    compared.forEach((side, at) => {
      const figure = figures[view]?.[side];
      if (!figure) return;
      const { numbers, reason, image: source } = answers[at];
      const { label } = named[chosen[side]];
      if (reason) figure.explain(`${label}, ${pictures[view].label}: ${reason}`);
      else if (source) figure.showImage(source, `${label}: ${pictures[view].caption}`);
      else figure.show((size) => plot.draw(numbers, named[chosen[side]], ends, size));
    });
  };
  const drawers = Object.fromEntries(views.map((view) => [view, latest(() => drawOne(view))]));

  const forget = onChange(() => { for (const view of shown()) if (!plotOf(view)) drawers[view](); });

  // The figures follow a slider at once; what is below them waits until it rests.
  let rest = null;
  function draw() {
    for (const view of shown()) drawers[view]();
    clearTimeout(rest);
    rest = setTimeout(() => { worked.draw(); sentence.draw(); }, REST);
  }

  function rebuild() {
    clear();
    fill(cards, ...sides().map((side) => card(named[chosen[side]], optionsOf(side))));
    const single = sides().length === 1; // then two pictures stand side by side, else two encodings
    grid.className = single ? "pair" : "";
    fill(grid, ...shown().map((view) => {
      figures[view] = Object.fromEntries(sides().map((side) => [side, new Figure(() => `${named[chosen[side]].label}-${view}`, { height: single ? 400 : plotOf(view)?.tall ? 460 : 340, onHover: (at) => point(view, at) })]));
      return el("section", { class: single ? "" : "pair", "aria-label": pictures[view].label }, ...Object.values(figures[view]).map((figure) => figure.element));
    }));
    worked.rebuild();
    sentence.rebuild();
    draw();
  }

  function optionsOf(side) {
    return named[chosen[side]].options.map((one) => option(one, own(side)[one.name], bounds.option, (value) => {
      change(`of_${side}`, JSON.stringify({ ...own(side), [one.name]: value }));
      draw();
    }).element);
  }

  function clear() {
    for (const view of Object.keys(figures)) {
      for (const figure of Object.values(figures[view])) figure.end();
      delete figures[view];
    }
  }

  const pick = (side) => (name) => { change(side, name); change(`of_${side}`, "{}"); rebuild(); };
  root.append(
    el("div", { class: "controls" },
      choice("encoding", list, chosen.a, pick("a")).element,
      choice("compare with", [["", "no other"], ...list], chosen.b, pick("b")).element,
      ...["dim", "length", "heads", "head"].map((name) => controls[name].element)),
    checkboxes("pictures", views.map((view) => [view, pictures[view].label]), shown(), (names) => { change("views", names.join(",")); rebuild(); }).element,
    cards, grid,
    el("h2", {}, "The arithmetic, step by step"),
    el("p", { class: "fine" }, "Point at a figure, or choose the positions here."),
    el("div", { class: "controls" }, controls.position.element, controls.key.element),
    worked.element, sentence.element);
  rebuild();
  return { close: () => { clearTimeout(rest); forget(); clear(); sentence.clear(); } };
}
