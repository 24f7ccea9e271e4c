// From the numbers of a picture to what Plotly draws. No formula of an encoding is known here.

import { axis, colors, layout, safe, scale, theme } from "./theme.js";

// The smallest and the largest value, so that two encodings share one scale.
export function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values.flat(Infinity)) {
    if (value === null) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

export function joined(extents) {
  return [Math.min(...extents.map(([low]) => low)), Math.max(...extents.map(([, high]) => high))];
}

export function matrix(values, { title, down, across, ends, label, rows = null, columns = null }) {
  const look = colors();
  const top = Math.max(...ends.map(Math.abs)) || 1;
  const heat = {
    type: "heatmap", z: values, zmin: -top, zmax: top, colorscale: scale(look.diverging),
    colorbar: { title: { text: label, side: "right" }, thickness: 12, outlinewidth: 0 },
    hovertemplate: `${across} %{x}<br>${down} %{y}<br>%{z:.4f}<extra></extra>`,
  };
  const named = (names) => ({ tickvals: names.map((_, at) => at), ticktext: names.map(safe) });
  return {
    data: [heat],
    layout: layout(title, {
      xaxis: axis(across, { showgrid: false, zeroline: false, constrain: "domain", ...(columns ? named(columns) : {}) }),
      yaxis: axis(down, { showgrid: false, zeroline: false, autorange: "reversed", ...(rows ? named(rows) : {}) }),
    }),
    table: () => ({ heads: [down, ...(columns ?? values[0].map((_, at) => at))], rows: values.map((row, at) => [rows ? rows[at] : at, ...row]) }),
  };
}

// Attention weights from 0 up; words or positions along both sides.
export function weights(values, { title, names = null }) {
  const high = extent(values)[1] || 1;
  const drawn = matrix(values, { title, down: "query", across: "key", ends: [0, high], label: "weight", rows: names, columns: names });
  const colorbar = { thickness: 8, outlinewidth: 0 }; // small figures: the text above them says what it measures
  Object.assign(drawn.data[0], { zmin: 0, colorscale: scale(colors().sequential), colorbar });
  drawn.layout.xaxis.tickangle = names ? -45 : 0;
  return drawn;
}

// panels: { heading: [{ name, x, y, color, dash }] }, stacked over one x axis; ends: the range of the y axis;
// size: of the figure, in pixels, so that the names of the lines have room above each panel
export function lines(panels, { title, across, down, ends, log = false, markers = false, size = {} }) {
  const entries = Object.entries(panels);
  const padding = 0.05 * (ends[1] - ends[0] || 1);
  const upright = log ? { type: "log", dtick: 1 } : { range: [ends[0] - padding, ends[1] + padding] };
  const every = entries.flatMap(([heading, list], at) => list.map((line) => ({ ...line, heading, at })));
  const legend = every.length > 1;
  const [width, height] = [size.width || innerWidth, size.height || 400]; // of a hidden figure nothing is known
  const room = legend ? 8 + LEGEND_ROW * Math.max(...entries.map(([, list]) => legendRows(list, width - SIDES))) : 0; // pixels
  const top = 36 + room;
  const gap = room / (height - top - BOTTOM);
  const share = (1 - gap * (entries.length - 1)) / entries.length;
  const axes = {};
  entries.forEach(([heading], at) => {
    const high = 1 - at * (share + gap);
    axes[at ? `yaxis${at + 1}` : "yaxis"] = axis(heading || down, { ...upright, domain: [Math.max(0, high - share), high] });
  });
  return {
    data: every.map(({ name, heading, x, y, color, dash = "solid", at }) => ({
      type: "scatter", mode: markers ? "markers" : "lines", name: safe(name.slice(shared(entries[at][1]).length)), x, y, xaxis: "x", yaxis: at ? `y${at + 1}` : "y",
      line: { color: color, width: 2, dash }, marker: { color: color, size: 6 },
      legend: at ? `legend${at + 1}` : "legend",
      hovertemplate: `${across} %{x}<br>%{y:.4g}<extra>${safe(`${heading} ${name}`.trim())}</extra>`,
    })),
    layout: layout(title, {
      ...axes, ...legends(entries, axes), xaxis: axis(across, { anchor: entries.length > 1 ? `y${entries.length}` : "y" }),
      showlegend: legend, margin: { l: 58, r: 16, t: top, b: BOTTOM },
    }),
    table: () => ({ heads: ["line", across, down], rows: every.flatMap(({ heading, name, x, y }) => x.map((value, at) => [`${heading} ${name}`.trim(), value, y[at]])) }),
  };
}

const [SIDES, BOTTOM] = [74, 52]; // pixels of margin
const [LEGEND_ROW, SAMPLE, LETTER] = [20, 42, 6.5]; // pixels: a row of names, the piece of a line before each, a letter

// The words that all names of a panel begin with, said once before them: "dimension 0", "dimension 8" → "dimension ".
function shared(list) {
  if (list.length < 2) return "";
  const words = list[0].name.split(" ").slice(0, -1);
  const differs = words.findIndex((_, at) => !list.every(({ name }) => name.startsWith(`${words.slice(0, at + 1).join(" ")} `)));
  const common = (differs < 0 ? words : words.slice(0, differs)).join(" ");
  return common && `${common} `;
}

// In how many rows Plotly writes the names of a panel: in columns of one width where they do not fit into a row.
function legendRows(list, width) {
  const common = shared(list);
  const widths = list.map(({ name }) => SAMPLE + LETTER * (name.length - common.length));
  const free = width - LETTER * common.length;
  if (widths.reduce((sum, one) => sum + one, 0) <= free) return 1;
  return Math.ceil(list.length / Math.max(1, Math.floor(free / Math.max(...widths))));
}

// Above each panel the names of its lines.
function legends(entries, axes) {
  return Object.fromEntries(entries.map(([, list], at) => [at ? `legend${at + 1}` : "legend", {
    orientation: "h", x: 0, y: axes[at ? `yaxis${at + 1}` : "yaxis"].domain[1], yanchor: "bottom", font: { size: 11 }, bgcolor: "rgba(0,0,0,0)",
    title: { text: safe(shared(list).trim()), font: { size: 11 } },
  }]));
}

const DASHES = ["solid", "dash", "dot", "dashdot"];

// Evenly spread shades of an encoding's own color.
export function shades(entry, count) {
  const all = entry.shades[theme()];
  return Array.from({ length: count }, (_, at) => all[count === 1 ? all.length - 1 : Math.round((at * (all.length - 1)) / (count - 1))]);
}

// Plots that the page draws itself, so that they answer to the pointer, by the plot's name on the server.
const PLOTS = {
  heat: {
    extent: (n) => extent(n.values),
    draw: (n, entry, ends) => matrix(n.values, { title: `${entry.label}: ${n.what ?? "values"}`, down: "position", across: "dimension", ends, label: "value" }),
  },
  waves: {
    tall: true,
    extent: (n) => extent(Object.values(n.panels).flatMap((panel) => Object.values(panel))),
    draw: (n, entry, ends, size) => {
      const panels = Object.fromEntries(Object.entries(n.panels).map(([kind, panel]) => {
        const inks = shades(entry, Object.keys(panel).length);
        return [kind, Object.entries(panel).map(([name, y], at) => ({ name, x: n.positions, y, color: inks[at], dash: DASHES[at % DASHES.length] }))];
      }));
      return lines(panels, { title: `${entry.label}: ${n.what}`, across: "position", down: "value", ends, size });
    },
  },
  wavelengths: {
    extent: () => [0, 1],
    draw: (n, entry, ends, size) => lines({ "": [{ name: entry.label, x: n.dimensions, y: n.wavelengths, color: entry.color }] },
      { title: `${entry.label}: positions in one full turn`, across: "dimension", down: "wavelength (positions)", ends, size, log: true, markers: true }),
  },
  similarity: {
    extent: () => [-1, 1],
    draw: (n, entry, ends) => matrix(n.cosines, { title: `${entry.label}: cosine similarity of positions`, down: "position", across: "position", ends, label: "cosine" }),
  },
  product: {
    extent: (n) => extent(n.products),
    draw: (n, entry, ends, size) => lines({ "": shaded(entry, n.products, n.distances, (at) => `from position ${n.starts[at]}`) },
      { title: `${entry.label}: dot product of two positions by distance`, across: "distance (positions)", down: "dot product", ends, size }),
  },
  score: {
    extent: (n) => extent(n.scores),
    draw: (n, entry, ends, size) => lines({ "": shaded(entry, n.scores, n.distances, (at) => `head ${at + 1}`) },
      { title: `${entry.label}: score of equal tokens by distance`, across: "key − query (positions)", down: "score", ends, size }),
  },
  bias: {
    extent: (n) => extent(n.values),
    draw: (n, entry, ends) => matrix(n.values, { title: `${entry.label}: added to the scores of head ${n.head}`, down: "query's position", across: "key's position", ends, label: "bias" }),
  },
};

// One line for each row, from dark to the encoding's own color, each with its own dash.
function shaded(entry, rows, x, name) {
  const inks = shades(entry, rows.length);
  return rows.map((y, at) => ({ name: name(at), x, y, color: inks[at], dash: DASHES[at % DASHES.length] }));
}

export default PLOTS;
