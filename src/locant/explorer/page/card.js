// An encoding's card: its title, formula, options, paper and source file.

import { request } from "./request.js";
import { el, fill } from "./dom.js";

export function card(entry, options) {
  const source = el("pre", { class: "source", tabindex: "0", "aria-label": `source of ${entry.label}` }, "…");
  const details = el("details", {}, el("summary", {}, `source: ${entry.file}`), source);
  details.addEventListener("toggle", async () => {
    if (details.open && !details.dataset.read) {
      details.dataset.read = "yes";
      fill(source, await request("source", { encoding: entry.name }).catch((problem) => problem.message));
    }
  });
  const hooks = entry.hooks.length ? `hooks: ${entry.hooks.join(", ")}` : "no hooks";
  const parameters = entry.parameters === "0" ? "no parameters" : `${entry.parameters} parameters, shown untrained`;
  return el("section", { class: "card", style: `--own:${entry.color}`, "aria-label": entry.label },
    el("h3", {}, entry.own ? `${entry.label} (yours)` : entry.label),
    el("p", { class: "fine" }, entry.title),
    entry.formula.length ? el("pre", { class: "formula" }, entry.formula.join("\n")) : null,
    el("p", { class: "fine" }, [entry.paper, hooks, parameters].filter(Boolean).join(" · ")),
    options.length ? el("div", { class: "controls" }, ...options) : null,
    details);
}
