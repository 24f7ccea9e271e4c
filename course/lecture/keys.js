// Arrow keys, space, swipes and the buttons move on; n notes, d dark or light, p prints; #7 is slide 7.
"use strict";
const slides = [...document.querySelectorAll(".slide")];
const root = document.documentElement;
let current = 0;

function show(index, remember = true) {
  current = Math.max(0, Math.min(slides.length - 1, index));
  slides.forEach((slide, number) => slide.classList.toggle("shown", number === current));
  document.getElementById("number").textContent = `${current + 1} / ${slides.length}`;
  fit();
  if (remember) history.replaceState(null, "", `#${current + 1}`);
}

function fit() {  // a formula that is wider than its slide is made smaller
  for (const formula of slides[current].querySelectorAll('math[display="block"]')) {
    formula.style.fontSize = "";
    const share = formula.parentElement.clientWidth / formula.scrollWidth;
    if (share < 1) formula.style.fontSize = `${0.97 * share * parseFloat(getComputedStyle(formula).fontSize)}px`;
  }
}

function paint(theme) {
  root.dataset.theme = theme;
  document.getElementById("theme").textContent = theme === "dark" ? "light" : "dark";
}

const actions = {
  ArrowRight: () => show(current + 1), ArrowDown: () => show(current + 1), PageDown: () => show(current + 1),
  " ": () => show(current + 1), ArrowLeft: () => show(current - 1), ArrowUp: () => show(current - 1),
  PageUp: () => show(current - 1), Home: () => show(0), End: () => show(slides.length - 1),
  n: () => document.body.classList.toggle("with-notes"),
  d: () => paint(root.dataset.theme === "dark" ? "light" : "dark"),
  p: () => window.print(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
  if (event.key === " " && event.target.tagName === "BUTTON") return;
  event.preventDefault();
  actions[event.key]();
});
const keys = { back: "ArrowLeft", on: "ArrowRight", notes: "n", theme: "d", print: "p" };
for (const [id, key] of Object.entries(keys)) document.getElementById(id).addEventListener("click", actions[key]);

let touched = null;
document.addEventListener("touchstart", (event) => { touched = event.changedTouches[0].clientX; });
document.addEventListener("touchend", (event) => {
  const moved = event.changedTouches[0].clientX - touched;
  if (Math.abs(moved) > 60) show(current + (moved < 0 ? 1 : -1));
});
window.addEventListener("resize", fit);
window.addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1, false));

paint(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
show((Number(location.hash.slice(1)) || 1) - 1, false);
