// Elements of the page. Whatever comes from a file or a name becomes textContent or an attribute, never HTML.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

let count = 0;

// A new id, so that a label can refer to its control.
export function newId() {
  count += 1;
  return `e${count}`;
}

export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  return parent;
}

export function table(heads, rows, caption) {
  const words = heads.map((_, at) => rows.some((row) => Number.isNaN(Number.parseFloat(row[at] || 0))));
  const cell = (value, at) => el(at ? "td" : "th", { ...(at ? {} : { scope: "row" }), ...(words[at] ? { class: "words-in" } : {}) }, value instanceof Node ? value : String(value ?? ""));
  return el("div", {}, el("p", { class: "fine" }, caption), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", { "aria-label": caption },
      el("thead", {}, el("tr", {}, ...heads.map((head, at) => el("th", { scope: "col", ...(words[at] ? { class: "words-in" } : {}) }, head)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell)))))));
}

// Show a message at the top of the page.
export function showMessage(text) {
  const message = document.getElementById("message");
  message.textContent = text;
  message.hidden = !text;
}
