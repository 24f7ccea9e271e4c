// A figure: what Plotly draws, buttons to keep it and its numbers, or a sentence that says why there is none.

import { el } from "./dom.js";
import { onChange } from "./look.js";

const SETTINGS = { responsive: true, displayModeBar: false, doubleClick: "reset" };

export class Figure {
  // name: for the files; height in pixels
  constructor(name, { height = 340, onHover = null } = {}) {
    this.name = name;
    this.place = el("div", { class: "plot", style: `height:${height}px` });
    this.words = el("p", { class: "reason", hidden: true });
    const keep = (label, how, said) => el("button", { type: "button", class: "small", title: said, onclick: how }, label);
    this.buttons = el("div", { class: "keep" },
      keep("PNG", () => this.image("png"), "Download the figure as PNG"),
      keep("SVG", () => this.image("svg"), "Download the figure as SVG"),
      keep("CSV", () => this.numbers(), "Download the numbers as CSV"));
    this.element = el("figure", {}, this.place, this.words, this.buttons);
    this.onHover = onHover;
    this.forget = onChange(() => this.make && this.show(this.make));
  }

  // make() gives { data, layout, table: { heads, rows } }; it is called again when the theme changes.
  async show(make) {
    this.make = make;
    this.drawn = make();
    this.words.hidden = true;
    this.place.hidden = this.buttons.hidden = false;
    this.element.setAttribute("aria-label", this.drawn.layout.title.text);
    await globalThis.Plotly.react(this.place, this.drawn.data, this.drawn.layout, SETTINGS);
    if (this.onHover && !this.heard) {
      this.heard = true;
      this.place.on("plotly_hover", (event) => this.onHover(event.points[0]));
    }
  }

  say(text) {
    this.make = null;
    this.words.textContent = text;
    this.words.hidden = false;
    this.place.hidden = this.buttons.hidden = true;
  }

  end() {
    this.forget();
    globalThis.Plotly.purge(this.place);
  }

  file() {
    return this.name().replaceAll(/[^\w.-]+/g, "-");
  }

  image(format) {
    const { clientWidth: width, clientHeight: height } = this.place;
    globalThis.Plotly.downloadImage(this.place, { format, filename: this.file(), width, height, scale: 2 });
  }

  numbers() {
    const { heads, rows } = this.drawn.table();
    saveCsv(this.file(), heads, rows);
  }
}

// Rows as a CSV file; text that a spreadsheet would run as a formula is kept as text.
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
