// Light or dark, and what all figures share. The colors come from the server: one for each encoding, everywhere.

let themes = {};
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

export function begin(given) {
  themes = given;
  dark.addEventListener("change", changed);
}

export function theme() {
  return document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
}

export function toggle() {
  document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
  changed();
}

function changed() {
  for (const listener of listeners) listener();
}

export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const colors = () => themes[theme()];

export function scale(stops) {
  return stops.map((color, at) => [at / (stops.length - 1), color]);
}

// Plotly interprets a few tags in texts; what comes from a file or a name must not be one.
export function safe(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

// Break a title into lines that fit; the text must be safe already. narrow: letters in a line on a phone
function wrapped(text, narrow) {
  const room = innerWidth < 640 ? narrow : 90;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > room && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("<br>");
}

export function axis(title, more = {}) {
  const { grid, muted } = colors();
  return { title: { text: wrapped(title, 28), standoff: 8 }, gridcolor: grid, zerolinecolor: grid, linecolor: muted, automargin: true, ...more };
}

export function layout(title, more = {}) {
  const { paper, ink } = colors();
  const heading = wrapped(safe(title), 38);
  const lines = heading.split("<br>").length;
  const margin = { l: 58, r: 16, t: 40, b: 52, ...more.margin };
  return {
    ...more,
    // Plotly puts the middle of a title of several lines where the middle of one line would be
    title: { text: heading, font: { size: 14 }, x: 0.01, xanchor: "left", y: 0.985, yanchor: "top", pad: { t: 10 * (lines - 1) }, automargin: false },
    paper_bgcolor: paper,
    plot_bgcolor: paper,
    font: { family: "system-ui, sans-serif", size: 12, color: ink },
    margin: { ...margin, t: margin.t + 18 * (lines - 1) },
    hoverlabel: { font: { family: "system-ui, sans-serif" } },
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
  };
}
