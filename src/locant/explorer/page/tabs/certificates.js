// Certificates: properties down, encodings across; each cell opens its measurement. One encoding is measured at a time.

import { button } from "../controls.js";
import { el, fill } from "../dom.js";
import { saveCsv } from "../figure.js";
import { request } from "../request.js";

const MARKS = { holds: "✓", fails: "✗", "not claimed": "–", seen: "·", "not judged": "○" };

// For JSON.stringify: measurements with a few digits.
const shortNumbers = (_, value) => (typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value);

export function build(root, start, given, save) {
  const certificates = {};
  let open = true;
  const state = el("p", { class: "reason", role: "status" });
  const matrix = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "property matrix" });
  const dialog = el("dialog", { class: "card", "aria-label": "measurement", onclose: () => save({}) });

  function finding(name, property) {
    return certificates[name]?.findings?.find((one) => one.name === property);
  }

  function show(entry, property) {
    const one = finding(entry.name, property);
    if (!one) return;
    const { dim, heads, length } = certificates[entry.name].shape;
    fill(dialog,
      el("h3", {}, `${entry.label}, ${one.name}: ${one.verdict}`),
      el("p", {}, one.sentence),
      el("p", { class: "verdict" }, one.message),
      el("p", { class: "fine" }, `claim: ${one.claim} · bound: ${one.bound} · ${one.why}`),
      el("pre", { class: "formula" }, JSON.stringify(one.numbers, shortNumbers, 1)),
      el("p", { class: "fine" }, `width ${dim}, ${heads} heads, length ${length} · effort ${certificates[entry.name].effort}, seed ${certificates[entry.name].seed}`),
      button("Close", () => dialog.close(), { autofocus: "" }));
    if (!dialog.open) dialog.showModal();
    save({ encoding: entry.name, property });
  }

  function cell(entry, property) {
    const one = finding(entry.name, property);
    if (!one) return el("td", { class: "waiting" }, certificates[entry.name]?.problem ? "failed" : "…");
    return el("td", { class: one.verdict.replace(" ", "-") },
      el("button", { type: "button", class: "cell", title: one.message, "aria-label": `${entry.label}, ${property}: ${one.verdict}, ${one.value}`, onclick: () => show(entry, property) },
        el("span", { class: "mark" }, MARKS[one.verdict]), one.value === "–" ? "" : ` ${one.value}`));
  }

  function draw() {
    const first = Object.values(certificates).find((one) => one.findings);
    if (!first) return;
    fill(matrix, el("table", { class: "matrix" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "property"), ...start.encodings.map((entry) => el("th", { scope: "col", title: entry.name }, entry.label)))),
      el("tbody", {}, ...first.findings.map(({ name, sentence }) => el("tr", {}, el("th", { scope: "row", title: sentence }, name), ...start.encodings.map((entry) => cell(entry, name)))))));
  }

  async function measure() {
    const wanted = [...start.encodings].sort((a, b) => (b.name === given.encoding) - (a.name === given.encoding));
    for (const [at, entry] of wanted.entries()) {
      if (!open) return;
      state.textContent = `Measuring ${entry.label}: ${at} of ${wanted.length} done (a few seconds each, the first time only).`;
      certificates[entry.name] = await request("certificate", { encoding: entry.name }).catch((problem) => ({ problem: problem.message }));
      if (!open) return;
      draw();
      if (entry.name === given.encoding) show(entry, given.property);
    }
    const problems = Object.entries(certificates).filter(([, one]) => one.problem).map(([name, one]) => `${name}: ${one.problem}`);
    state.textContent = [`${wanted.length} encodings measured.`, ...problems].join("\n");
  }

  function keep() {
    const rows = start.encodings.flatMap((entry) => (certificates[entry.name]?.findings ?? []).map((one) => [entry.name, one.name, one.claim, one.verdict, one.value, one.message, one.bound]));
    saveCsv("certificates", ["encoding", "property", "claim", "verdict", "value", "measured", "bound"], rows);
  }

  root.append(
    el("h2", {}, "Which properties hold?"),
    el("p", { class: "fine" }, "✓ holds, and is claimed or required of every encoding; ✗ claimed, but fails; – not claimed; · measured, nothing to claim; ○ not judged: there was nothing to measure, or the model did not learn its task. Click a cell to see its measurement."),
    state, matrix, el("div", { class: "keep" }, button("CSV", keep, { class: "small", title: "Download all measurements as CSV" })), dialog);
  measure();
  return { close: () => { open = false; } };
}
