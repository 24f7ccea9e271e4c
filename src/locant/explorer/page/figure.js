// A figure: a Plotly plot or an image, buttons to download it, or a sentence that says why there is none.

import { el } from "./dom.js";
import { onChange } from "./theme.js";

const SETTINGS = { responsive: true, displayModeBar: false, doubleClick: "reset" };

export class Figure {
  // name: for the files; height in pixels
  constructor(name, { height = 340, onHover = null } = {}) {
    this.name = name;
    this.plot = el("div", { class: "plot", style: `height:${height}px` });
    this.image = el("img", { class: "picture", alt: "", hidden: true });
    this.reason = el("p", { class: "reason", hidden: true });
    const keep = (label, onclick, title) => el("button", { type: "button", class: "small", title, onclick }, label);
    this.plotButtons = el("div", { class: "keep" },
      keep("PNG", () => this.savePlot("png"), "Download the figure as PNG"),
      keep("SVG", () => this.savePlot("svg"), "Download the figure as SVG"),
      keep("CSV", () => this.saveNumbers(), "Download the numbers as CSV"));
    this.imageButtons = el("div", { class: "keep", hidden: true }, keep("SVG", () => this.saveImage(), "Download the figure as SVG"));
    this.element = el("figure", {}, this.plot, this.image, this.reason, this.plotButtons, this.imageButtons);
    this.onHover = onHover;
    this.forget = onChange(() => this.make && this.show(this.make));
    this.resized = new ResizeObserver(() => { if (this.make && this.plot.clientWidth && this.plot.clientWidth !== this.width) this.show(this.make); });
    this.resized.observe(this.plot);
  }

  reveal(kind) {
    this.plot.hidden = this.plotButtons.hidden = kind !== "plot";
    this.image.hidden = this.imageButtons.hidden = kind !== "image";
    this.reason.hidden = kind !== "reason";
  }

  // make({ width, height }) returns { data, layout, table: () => ({ heads, rows }) } for a figure of so many pixels;
  // it is called again when the theme or the width of the figure changes.
  async show(make) {
    this.make = make;
    this.reveal("plot");
    const { clientWidth: width, clientHeight: height } = this.plot;
    this.width = width;
    this.drawn = make({ width, height });
    this.element.setAttribute("aria-label", this.drawn.layout.title.text);
    await globalThis.Plotly.react(this.plot, this.drawn.data, this.drawn.layout, SETTINGS);
    if (this.onHover && !this.listening) {
      this.listening = true;
      this.plot.on("plotly_hover", (event) => this.onHover(event.points[0]));
    }
  }

  // An image that the server has drawn.
  showImage(source, caption) {
    this.make = null;
    this.image.src = source;
    this.image.alt = caption;
    this.element.setAttribute("aria-label", caption);
    this.reveal("image");
  }

  // A sentence instead of a picture.
  explain(text) {
    this.make = null;
    this.reason.textContent = text;
    this.reveal("reason");
  }

  end() {
    this.forget();
    this.resized.disconnect();
    globalThis.Plotly.purge(this.plot);
  }

  file() {
    return this.name().replaceAll(/[^\w.-]+/g, "-");
  }

  savePlot(format) {
    const { clientWidth: width, clientHeight: height } = this.plot;
    globalThis.Plotly.downloadImage(this.plot, { format, filename: this.file(), width, height, scale: 2 });
  }

  saveImage() {
    el("a", { href: this.image.src, download: `${this.file()}.svg` }).click();
  }

  saveNumbers() {
    const { heads, rows } = this.drawn.table();
    saveCsv(this.file(), heads, rows);
  }
}

// Save rows as a CSV file; text that a spreadsheet would run as a formula is kept as text.
export function saveCsv(name, heads, rows) {
  const text = [heads, ...rows].map((row) => row.map(quoted).join(",")).join("\n");
  const link = el("a", { href: URL.createObjectURL(new Blob([`${text}\n`], { type: "text/csv" })), download: `${name}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function quoted(value) {
  const text = String(value ?? "");
  const tame = /^[=+@\t\r]/.test(text) || (text.startsWith("-") && Number.isNaN(Number(text))) ? `'${text}` : text;
  return /[",\n\r]/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame;
}
