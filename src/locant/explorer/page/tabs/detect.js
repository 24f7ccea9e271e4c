// Detect: drop a file with a series; see its expected values, the score of every row, and the events.

import { choice } from "../controls.js";
import { detection } from "../detection_plot.js";
import { el, fill, table } from "../dom.js";
import { Figure, saveCsv } from "../figure.js";
import { request } from "../request.js";

const SENT_AS = "dropped.csv"; // what the server calls the file, whose name stays here

export function build(root, start) {
  const results = el("div", {});
  const state = el("p", { class: "reason", role: "status" });
  const figure = new Figure(() => "detection", { height: 480 });
  let open = true;

  async function analyze(file) {
    if (!file) return;
    fill(results);
    if (file.size > start.bounds.upload) {
      state.textContent = `${file.name} has ${(file.size / 1e6).toFixed(1)} MB; this page takes up to ${start.bounds.upload / 1e6} MB. Use the terminal: locant detect FILE`;
      return;
    }
    state.textContent = `${file.name}: looking for anomalies…`;
    try {
      const found = await request("detect", {}, { method: "POST", body: file });
      if (open) show(file.name, found);
    } catch (problem) {
      const { message } = problem;
      state.textContent = message.includes(SENT_AS) ? message.replaceAll(SENT_AS, file.name) : `${file.name}: ${message}`;
    }
  }

  function show(name, found) {
    const count = found.events.length;
    state.textContent = `${name}: ${count ? `${count} event${count === 1 ? "" : "s"}` : "no anomalies found"}.`;
    let column = Math.max(0, found.names.indexOf(found.events[0]?.columns[0]));
    const draw = () => figure.show(() => detection(name, found, column));
    const heads = ["event", "from", "to", "rows", "score", "columns", "value", "expected"];
    const rows = found.events.map((event, at) => [at + 1, event.first, event.last, event.stop - event.start, event.score.toFixed(2), event.columns.join(", "), event.value.toPrecision(5), event.expected.toPrecision(5)]);
    fill(results,
      found.names.length > 1 ? el("div", { class: "controls" }, choice("column", found.names.map((one, at) => [String(at), one]), String(column), (at) => { column = Number(at); draw(); }).element) : null,
      figure.element,
      count ? table(heads, rows, "Events. A score counts typical deviations.") : null,
      el("div", { class: "keep" }, el("button", { type: "button", class: "small", title: "Download the events as CSV", onclick: () => saveCsv("events", heads, rows) }, "CSV")),
      el("h2", {}, "How the file was read"),
      table(["property", "value"], found.understood.map(([property, value]) => [property, String(value).replace(SENT_AS, name)]), name),
      ...[...found.repairs, found.threshold_sentence, ...found.why].map((sentence) => el("p", { class: "fine" }, sentence)),
      el("p", { class: "fine" }, "This page uses one quick method. In the terminal, `locant detect FILE` chooses the best of several by a self-test."));
    draw();
  }

  const input = el("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.json,.jsonl", onchange: () => analyze(input.files[0]) });
  const zone = el("div", { class: "drop" }, el("label", { for: "file" }, "Drop a CSV, TSV or JSON-lines file here, or choose one: "), input,
    el("p", { class: "fine" }, `Up to ${start.bounds.upload / 1e6} MB. The file stays on this machine and is not stored.`));
  const over = (event) => { event.preventDefault(); zone.classList.toggle("over", event.type === "dragover"); };
  for (const type of ["dragover", "dragleave"]) zone.addEventListener(type, over);
  zone.addEventListener("drop", (event) => { over(event); analyze(event.dataTransfer.files[0]); });
  root.append(el("h2", {}, "Find anomalies in a series"), zone, state, results);
  return { close: () => { open = false; figure.end(); } };
}
