// The plots of a study: means with intervals and a dot for every seed; names down the side, best first.

import { extent } from "./plots.js";
import { axis, colors, layout, safe, theme } from "./theme.js";

const SPREAD = 0.24; // of a row: dots of seeds lie this far above and below its middle
const SYMBOLS = { encoding: "circle", control: "diamond", baseline: "square" };

function picked(picture, wanted) {
  return picture.names.map((name, at) => ({ name, values: picture.values[at], means: picture.means[at], intervals: picture.intervals[at], at })).filter(({ name }) => wanted(name));
}

// Rows down, scores across. lines: { name: value } as thin lines; groups: beside each row that has one.
function rows(study, picture, wanted, { title, across, lines = {}, groups = null }) {
  const { ink, muted, grid } = colors();
  const some = picked(picture, wanted);
  const [low, high] = extent([some.map(({ values }) => values), some.map(({ intervals }) => intervals), Object.values(lines)]);
  const padding = 0.05 * (high - low || 1);
  const anchor = (x) => (x > low + 0.7 * (high - low) ? "right" : x < low + 0.3 * (high - low) ? "left" : "center");
  const look = (name) => study.entrants[name];
  const own = (name) => look(name).colors[theme()];
  const seeds = some.map(({ name, values }, row) => ({
    type: "scatter", mode: "markers", showlegend: false, hovertemplate: `${safe(name)}: %{x:.4f}<extra>a ${picture.each}</extra>`,
    x: values, y: values.map((_, at) => row + (values.length > 1 ? SPREAD * ((2 * at) / (values.length - 1) - 1) : 0)),
    marker: { color: own(name), size: 4, opacity: 0.7 },
  }));
  const sure = some.map((one, row) => ({ ...one, row })).filter(({ means }) => means.length && means[0] !== null);
  const means = sure.map(({ name, means: [mean], intervals: [[low, high]], row }) => ({
    type: "scatter", mode: "markers", showlegend: false, hovertemplate: `${safe(name)}: %{x:.4f}<extra>mean</extra>`, x: [mean], y: [row],
    error_x: low === null ? {} : { type: "data", array: [high - mean], arrayminus: [mean - low], color: own(name), thickness: 2, width: 0 },
    marker: { color: own(name), size: 9, symbol: `${SYMBOLS[look(name).role]}${look(name).again ? "-open" : ""}`, line: { width: 1, color: own(name) } },
  }));
  const shapes = Object.values(lines).map((x) => ({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: muted, width: 1, dash: "dash" }, layer: "below" }));
  const named = Object.entries(lines).map(([name, x], at) => ({ x, xanchor: anchor(x), y: 1, yref: "paper", yanchor: "bottom", text: safe(name), showarrow: false, font: { size: 11, color: muted }, yshift: 14 * at }));
  const grouped = groups ? some.filter(({ at }) => groups[at]).map(({ name, at }) => ({ x: 1, xref: "paper", xanchor: "left", xshift: 6, y: some.findIndex((one) => one.name === name), text: `group ${groups[at]}`, showarrow: false, font: { family: "ui-monospace, monospace", color: ink } })) : [];
  return {
    data: [...seeds, ...means],
    layout: layout(title, {
      xaxis: axis(across, { range: [low - padding, high + padding] }),
      yaxis: axis("", { tickvals: some.map((_, row) => row), ticktext: some.map(({ name }) => safe(name)), range: [some.length - 0.4, -0.6], zeroline: false, gridcolor: grid }),
      shapes, annotations: [...named, ...grouped],
      margin: { l: 110, r: groups ? 70 : 20, t: 46 + 14 * Object.keys(lines).length, b: 52 },
    }),
    table: () => ({ heads: ["row", `${picture.each} number`, across], rows: some.flatMap(({ name, values }) => values.map((value, at) => [name, at, value])) }),
  };
}

function lengths(study, wanted) {
  const picture = study.pictures.lengths;
  const some = picked(picture, wanted);
  return {
    data: some.map(({ name, means, intervals }) => {
      const { colors: inks, dash, role, again } = study.entrants[name];
      const own = inks[theme()];
      return {
        type: "scatter", mode: "lines+markers", name: safe(name), x: picture.lengths, y: means, hovertemplate: `length %{x}<br>%{y:.4f}<extra>${safe(name)}</extra>`,
        error_y: { type: "data", array: intervals.map(([, high], at) => (high === null ? 0 : high - means[at])), arrayminus: intervals.map(([low], at) => (low === null ? 0 : means[at] - low)), color: own, thickness: 1.5, width: 0 },
        line: { color: own, width: 2, dash: dash.length ? dash.map((one) => `${one * 1.5}px`).join(",") : "solid" },
        marker: { color: own, size: 7, symbol: `${SYMBOLS[role]}${again ? "-open" : ""}` },
      };
    }),
    layout: layout(`${picture.metric} against length; trained at ${picture.lengths[0]}`, {
      xaxis: axis("length (tokens)", { tickvals: picture.lengths }), yaxis: axis(safe(picture.metric)),
      shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: picture.chance, y1: picture.chance, line: { color: colors().muted, width: 1, dash: "dash" } }],
      annotations: [{ xref: "paper", x: 1, xanchor: "right", y: picture.chance, yanchor: "bottom", text: "chance", showarrow: false, font: { size: 11, color: colors().muted } }],
    }),
    table: () => ({ heads: ["row", "length", "mean", "low", "high"], rows: some.flatMap(({ name, means, intervals }) => means.map((mean, at) => [name, picture.lengths[at], mean, ...intervals[at]])) }),
  };
}

export const PLOTS = {
  metric: (study, wanted) => {
    const { metric, better, lines, on } = study.pictures.metric;
    return rows(study, study.pictures.metric, wanted, { title: `${metric} on ${on}, best first`, across: `${metric} (${better} is better)`, lines });
  },
  forest: (study, wanted) => {
    const { metric, better, groups, each } = study.pictures.forest;
    const side = better === "higher" ? "right" : "left";
    return rows(study, study.pictures.forest, wanted, { title: `${metric}: difference from none, paired by ${each}`, across: `${metric} minus that of none (${side} is better)`, lines: { none: 0 }, groups });
  },
  lengths,
};
