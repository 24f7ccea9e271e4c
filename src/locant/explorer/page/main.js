// The page: tabs, theme, and the address. Each tab is a file of its own, loaded when it is opened.

import { read, write } from "./address.js";
import { el, fill, showMessage } from "./dom.js";
import { request } from "./request.js";
import { begin, onChange, theme, toggle } from "./theme.js";

const panel = document.getElementById("panel");
const list = document.getElementById("tabs");
const remembered = {};
let start;
let open = null;
let latest = 0; // how many times a tab was asked for: one that loads late must not replace a newer one

async function show(name, chosen) {
  const mine = (latest += 1);
  open?.close();
  open = null;
  showMessage("");
  const tab = start.tabs.find((one) => key(one) === name) ?? start.tabs[0];
  const { build } = await import(`./tabs/${key(tab)}.js`);
  if (mine !== latest) return;
  for (const button of list.children) {
    const now = button.textContent === tab;
    button.setAttribute("aria-selected", String(now));
    button.tabIndex = now ? 0 : -1;
  }
  panel.setAttribute("aria-label", tab);
  fill(panel);
  const save = (values) => { remembered[key(tab)] = values; write(key(tab), values); };
  open = build(panel, start, chosen, save);
}

const key = (tab) => tab.toLowerCase();

function choose(tab) {
  write(key(tab), remembered[key(tab)] ?? {});
  return show(key(tab), remembered[key(tab)] ?? {});
}

function move(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const buttons = [...list.children];
  const at = buttons.indexOf(document.activeElement);
  const next = { Home: 0, End: buttons.length - 1 }[event.key] ?? (step && (at + step + buttons.length) % buttons.length);
  if (next === undefined) return;
  event.preventDefault();
  buttons[next].focus();
  choose(start.tabs[next]);
}

function nameTheme() {
  document.getElementById("theme").textContent = theme() === "dark" ? "Light" : "Dark";
}

function restore() {
  const { tab, chosen } = read();
  return show(tab, chosen);
}

try {
  start = await request("start");
  begin(start.themes);
  fill(list, ...start.tabs.map((tab) => el("button", { type: "button", role: "tab", "aria-controls": "panel", onclick: () => choose(tab) }, tab)));
  list.addEventListener("keydown", move);
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); panel.focus(); });
  document.getElementById("theme").addEventListener("click", toggle);
  onChange(nameTheme);
  nameTheme();
  addEventListener("hashchange", restore);
  await restore();
} catch (problem) {
  showMessage(problem.message);
}
