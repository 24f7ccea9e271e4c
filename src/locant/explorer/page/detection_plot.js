// The plot of a detection: one column and its expected values above the score of every row; events are shaded.

import { axis, colors, layout, safe } from "./theme.js";

export function detection(file, found, column) {
  const { ink, muted, diverging } = colors();
  const high = diverging[5];
  const line = (name, y, color, dash = "solid", yaxis = "y") => ({
    type: "scatter", mode: "lines", name, x: found.times, y, yaxis, line: { color: color, width: 1.5, dash }, hovertemplate: "%{x}<br>%{y:.5g}<extra></extra>",
  });
  const step = found.times.length > 1 ? 1 : 0;
  const shade = ({ start, stop }) => ({
    type: "rect", xref: "x", yref: "paper", y0: 0, y1: 1, x0: found.times[Math.max(0, start - step)], x1: found.times[Math.min(found.times.length - 1, stop)],
    fillcolor: high, opacity: 0.25, line: { width: 0 }, layer: "below",
  });
  const limit = { type: "line", xref: "paper", x0: 0, x1: 1, yref: "y2", y0: found.threshold, y1: found.threshold, line: { color: high, width: 1.5, dash: "dash" } };
  return {
    data: [
      line("expected", found.expected[column], muted, "dot"),
      line("measured", found.values[column], ink),
      line("score", found.scores, diverging[1], "solid", "y2"),
    ],
    layout: layout(`${file}: ${found.names[column]}, and the anomaly score of every row; events are shaded`, {
      xaxis: axis(typeof found.times[0] === "string" ? "time" : "row or time", { anchor: "y2" }),
      yaxis: axis(safe(found.names[column]), { domain: [0.42, 1] }),
      yaxis2: axis("score", { domain: [0, 0.34], rangemode: "tozero" }),
      shapes: [...found.events.map(shade), limit],
      legend: { orientation: "h", y: 1.01, yanchor: "bottom", x: 0 }, margin: { l: 64, r: 16, t: 64, b: 52 },
    }),
    table: () => ({ heads: ["time", found.names[column], "expected", "score"], rows: found.times.map((time, at) => [time, found.values[column][at], found.expected[column][at], found.scores[at]]) }),
  };
}
