// Detect: drop a file with a series; see what was expected, the score of every row, and the events.

import { ask } from "../ask.js";
import { choice } from "../controls.js";
import { el, fill, table } from "../dom.js";
import { Figure, saveCsv } from "../figure.js";
import { detection } from "../series.js";

export function build(root, start) {
  const place = el("div", {});
  const state = el("p", { class: "reason", role: "status" });
  const figure = new Figure(() => "detection", { height: 480 });
  let open = true;

  async function judge(file) {
    if (!file) return;
    fill(place);
    if (file.size > start.bounds.upload) {
      state.textContent = `${file.name} has ${(file.size / 1e6).toFixed(1)} MB; this page takes up to ${start.bounds.upload / 1e6} MB. Use the terminal: locant detect FILE`;
      return;
    }
    state.textContent = `${file.name}: being judged…`;
    try {
      const found = await ask("detect", {}, { method: "POST", body: file });
      if (open) show(file.name, found);
    } catch (problem) {
      state.textContent = `${file.name}: ${problem.message}`;
    }
  }

  function show(name, found) {
    const count = found.events.length;
    state.textContent = `${name}: ${count ? `${count} event${count === 1 ? "" : "s"}` : "nothing odd was found"}.`;
    let column = Math.max(0, found.names.indexOf(found.events[0]?.columns[0]));
    const draw = () => figure.show(() => detection(name, found, column));
    const heads = ["event", "from", "to", "rows", "score", "columns", "value", "expected"];
    const rows = found.events.map((event, at) => [at + 1, event.first, event.last, event.stop - event.start, event.score.toFixed(2), event.columns.join(", "), event.value.toPrecision(5), event.expected.toPrecision(5)]);
    fill(place,
      found.names.length > 1 ? el("div", { class: "controls" }, choice("column", found.names.map((one, at) => [String(at), one]), String(column), (at) => { column = Number(at); draw(); }).element) : null,
      figure.element,
      count ? table(heads, rows, "Events; score in units of the usual deviation") : null,
      el("div", { class: "keep" }, el("button", { type: "button", class: "small", title: "Download the events as CSV", onclick: () => saveCsv("events", heads, rows) }, "CSV")),
      el("h2", {}, "What was understood"),
      table(["what", "value"], found.understood, "the file"),
      ...[...found.repairs, found.threshold_sentence, ...found.why].map((sentence) => el("p", { class: "fine" }, sentence)),
      el("p", { class: "fine" }, "Judged by the quick method alone; `locant detect FILE` in the terminal chooses the best of several by a self-test."));
    draw();
  }

  const input = el("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.json,.jsonl", onchange: () => judge(input.files[0]) });
  const zone = el("div", { class: "drop" }, el("label", { for: "file" }, "Drop a CSV, TSV or JSON-lines file here, or choose one: "), input,
    el("p", { class: "fine" }, `Up to ${start.bounds.upload / 1e6} MB. It stays on this machine, and is not kept.`));
  const over = (event) => { event.preventDefault(); zone.classList.toggle("over", event.type === "dragover"); };
  for (const type of ["dragover", "dragleave"]) zone.addEventListener(type, over);
  zone.addEventListener("drop", (event) => { over(event); judge(event.dataTransfer.files[0]); });
  root.append(el("h2", {}, "What is odd in a series?"), zone, state, place);
  return { close: () => { open = false; figure.end(); } };
}
