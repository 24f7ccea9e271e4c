// Studies: the runs in the store, updated while a study runs; the table, the forest plot, the curves over length.

import { checkboxes, choice } from "../controls.js";
import { el, fill, table } from "../dom.js";
import { Figure, saveCsv } from "../figure.js";
import { request } from "../request.js";
import { PLOTS } from "../study_plots.js";

const POLL_MILLISECONDS = 3000;

export function build(root, start, given, save) {
  const chosen = { study: "", rows: "", ...given };
  const figures = {};
  const list = el("div", {});
  const running = el("section", { "aria-live": "polite" });
  const content = el("div", {});
  let timer = null;
  let open = true;
  let known = "";
  let shown = null;

  const change = (name, value) => { chosen[name] = value; save(Object.fromEntries(Object.entries(chosen).filter(([, one]) => one))); };
  const wanted = (name) => !chosen.rows || chosen.rows.split("|").includes(name);

  function drawFigures() {
    for (const [name, figure] of Object.entries(figures)) figure.show(() => PLOTS[name](shown, wanted));
    const rows = shown.rows.filter(([name]) => wanted(name));
    fill(content.querySelector(".table"), table(shown.heads, rows, shown.facts));
  }

  function clear() {
    for (const name of Object.keys(figures)) { figures[name].end(); delete figures[name]; }
  }

  function drawStudy() {
    clear();
    const sections = Object.entries(shown.pictures).map(([name, { caption, names }]) => {
      figures[name] = new Figure(() => `${shown.id}-${name}`, { height: name === "lengths" ? 420 : 130 + 24 * names.length });
      return el("section", {}, figures[name].element, el("p", { class: "fine" }, caption));
    });
    fill(content,
      el("h2", {}, shown.title), el("p", {}, shown.question), el("p", { class: "verdict" }, shown.verdict),
      ...shown.failures.map((why) => el("p", { class: "reason" }, `failed: ${why}`)),
      checkboxes("show", Object.keys(shown.entrants).map((name) => [name, name]), Object.keys(shown.entrants).filter(wanted), (names) => { change("rows", names.join("|")); drawFigures(); }).element,
      el("div", { class: "table" }),
      el("p", { class: "fine" }, `${shown.note[0].toUpperCase()}${shown.note.slice(1)}.`),
      el("div", { class: "keep" }, el("button", { type: "button", class: "small", title: "Download the table as CSV", onclick: () => saveCsv(shown.id, shown.heads, shown.rows) }, "CSV")),
      el("div", { class: "pair" }, ...sections),
      el("p", { class: "fine" }, `Study ${shown.id}, computed by: ${shown.command}`));
    drawFigures();
  }

  async function load() {
    try {
      shown = await request("study", { study: chosen.study });
      if (open) drawStudy();
    } catch (problem) {
      fill(content, el("p", { class: "reason" }, problem.message));
    }
  }

  function drawRunning({ unfinished, in_flight: flying }) {
    const parts = unfinished.map(({ task, metric, searched, rows }) => table(
      ["row", "runs", "failed", metric ? `mean ${metric}` : "mean"],
      rows.map((row) => [row.name, row.done, row.failed, row.mean === null ? "" : row.mean.toFixed(3)]),
      `${task}: running; ${searched} runs of its search are done`));
    fill(running, flying ? el("p", { class: "verdict" }, `${flying} run${flying === 1 ? " is" : "s are"} being computed now.`) : null, ...parts);
  }

  async function poll() {
    const got = await request("studies").catch((problem) => ({ problem: problem.message }));
    if (!open) return;
    if (got.problem) fill(running, el("p", { class: "reason" }, got.problem));
    else {
      drawRunning(got);
      const now = JSON.stringify(got.studies);
      if (now !== known) {
        known = now;
        update(got.studies);
      }
    }
    timer = setTimeout(poll, POLL_MILLISECONDS);
  }

  function update(studies) {
    if (!studies.length) {
      fill(list);
      fill(content, el("h2", {}, "No study yet"), el("p", {}, `The store ${start.store} is empty. Start a study, and it appears here while it runs:`),
        el("pre", { class: "formula" }, "locant compare order --quick"),
        el("p", {}, "Or open packed studies: locant explore --store studies.json.gz"));
      return;
    }
    if (!studies.some((one) => one.id === chosen.study)) chosen.study = studies[0].id;
    const names = studies.map((one) => [one.id, `${one.id}: ${one.title}`]);
    fill(list, choice("study", names, chosen.study, (id) => { change("rows", ""); change("study", id); load(); }).element);
    load();
  }

  root.append(el("div", { class: "controls one" }, list), running, content);
  poll();
  return { close: () => { open = false; clearTimeout(timer); clear(); } };
}
