// Sliders, lists and boxes, each with a label; every change is reported at once.

import { el, newId } from "./dom.js";

export function slider(label, { min, max, step = 1, value, format = String, onInput }) {
  const id = newId();
  const output = el("output", { for: id }, format(value));
  const input = el("input", { type: "range", id, min: String(min), max: String(max), step: String(step) });
  input.value = String(value);
  const update = () => {
    output.textContent = format(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  update();
  input.addEventListener("input", () => { update(); onInput(Number(input.value)); });
  const element = el("div", { class: "control" }, el("label", { for: id }, label), input, output);
  const set = (next, limits = {}) => { Object.assign(input, limits); input.value = String(next); update(); return Number(input.value); };
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

export function checkboxes(label, values, chosen, onInput) {
  const set = new Set(chosen);
  const boxes = values.map(([key, name]) => {
    const box = el("input", { type: "checkbox", checked: set.has(key) });
    box.addEventListener("change", () => {
      if (box.checked) set.add(key); else set.delete(key);
      onInput(values.map(([one]) => one).filter((one) => set.has(one)));
    });
    return el("label", { class: "tick" }, box, name);
  });
  return { element: el("fieldset", { class: "ticks" }, el("legend", {}, label), el("div", { class: "boxes" }, ...boxes)) };
}

export function button(label, onClick, attributes = {}) {
  return el("button", { type: "button", onclick: onClick, ...attributes }, label);
}

// A control for one option of an encoding, by the type of its default.
export function option({ name, default: preset, choices }, value, largest, onInput) {
  const now = value ?? preset;
  if (choices.length) return choice(name, choices.map((one) => [one, one]), now, onInput);
  if (typeof preset === "boolean") return choice(name, [["true", "yes"], ["false", "no"]], String(now), (word) => onInput(word === "true"));
  if (Number.isInteger(preset) && preset < 1000) {
    return slider(name, { min: 1, max: Math.min(largest, Math.max(4, 4 * preset)), value: now, onInput });
  }
  if (typeof preset === "number") {
    const power = Math.log10(preset);
    return slider(name, {
      min: power - 3, max: power + 3, step: 0.05, value: Math.log10(now), format: (exponent) => threeDigits(10 ** exponent),
      onInput: (exponent) => onInput(Number((10 ** exponent).toPrecision(3))),
    });
  }
  const words = now === null ? "" : JSON.stringify(now);
  return text(name, words, (word) => { try { onInput(word.trim() ? JSON.parse(word) : null); } catch { onInput(word); } }, { placeholder: "none, or JSON" });
}

function threeDigits(number) {
  return Number(number.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}
