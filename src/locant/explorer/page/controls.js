// Sliders, lists and boxes, each with a label; every change is told at once.

import { el, newId } from "./dom.js";

export function slider(label, { min, max, step = 1, value, shown = String, onInput }) {
  const id = newId();
  const output = el("output", { for: id }, shown(value));
  const input = el("input", { type: "range", id, min: String(min), max: String(max), step: String(step) });
  input.value = String(value);
  const said = () => {
    output.textContent = shown(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  said();
  input.addEventListener("input", () => { said(); onInput(Number(input.value)); });
  const element = el("div", { class: "control" }, el("label", { for: id }, label), input, output);
  const set = (next, limits = {}) => { Object.assign(input, limits); input.value = String(next); said(); return Number(input.value); };
  return { element, input, set };
}

export function choice(label, values, value, onInput) {
  const id = newId();
  const list = el("select", { id, onchange: () => onInput(list.value) },
    ...values.map(([key, text]) => el("option", { value: key }, text)));
  list.value = value;
  return { element: el("div", { class: "control" }, el("label", { for: id }, label), list), input: list };
}

export function text(label, value, onInput, attributes = {}) {
  const id = newId();
  const input = el("input", { type: "text", id, ...attributes });
  input.value = value;
  input.addEventListener("input", () => onInput(input.value));
  return { element: el("div", { class: "control wide" }, el("label", { for: id }, label), input), input };
}

export function ticks(label, values, chosen, onInput) {
  const set = new Set(chosen);
  const boxes = values.map(([key, name]) => {
    const box = el("input", { type: "checkbox", checked: set.has(key) });
    box.addEventListener("change", () => {
      if (box.checked) set.add(key); else set.delete(key);
      onInput(values.map(([one]) => one).filter((one) => set.has(one)));
    });
    return el("label", { class: "tick" }, box, name);
  });
  return { element: el("fieldset", { class: "ticks" }, el("legend", {}, label), ...boxes) };
}

export function button(label, onClick, attributes = {}) {
  return el("button", { type: "button", onclick: onClick, ...attributes }, label);
}

// One control for an encoding's own option, by the kind of its default.
export function option({ name, default: usual, choices }, value, largest, onInput) {
  const now = value ?? usual;
  if (choices.length) return choice(name, choices.map((one) => [one, one]), now, onInput);
  if (typeof usual === "boolean") return choice(name, [["true", "yes"], ["false", "no"]], String(now), (word) => onInput(word === "true"));
  if (Number.isInteger(usual) && usual < 1000) {
    return slider(name, { min: 1, max: Math.min(largest, Math.max(4, 4 * usual)), value: now, onInput });
  }
  if (typeof usual === "number") {
    const power = Math.log10(usual);
    return slider(name, {
      min: power - 3, max: power + 3, step: 0.05, value: Math.log10(now), shown: (at) => short(10 ** at),
      onInput: (at) => onInput(Number((10 ** at).toPrecision(3))),
    });
  }
  const words = now === null ? "" : JSON.stringify(now);
  return text(name, words, (word) => { try { onInput(word.trim() ? JSON.parse(word) : null); } catch { onInput(word); } }, { placeholder: "none; JSON" });
}

export function short(number) {
  return Number(number.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}
