/* SPDX-License-Identifier: Apache-2.0
   What the page can do beyond being read: values where the pointer or the keyboard is, arms switched on and off, the curve of
   each trial, tables sorted by a click, folds opened for printing. Without it nothing is missing from the page. */
"use strict";
const SVG = "http://www.w3.org/2000/svg";
const make = (name, attributes = {}, text = "") => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
};

/* Values beside the pointer */
const tip = make("div", { class: "tip", hidden: "" });
document.body.append(tip);
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const left = Math.min(x + 14, innerWidth - tip.offsetWidth - 8), below = y + 16;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${below + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10 : below}px`;
}
document.addEventListener("pointermove", event => {
  const mark = event.target.closest?.("[data-tip]");
  if (mark) showTip(mark.dataset.tip, event.clientX, event.clientY);
  else if (!event.target.closest?.("figure[data-series] svg")) tip.hidden = true;
});

/* Arms */
const hidden = new Set();
const rules = document.head.appendChild(make("style"));
function applyHidden() {
  rules.textContent = [...hidden].map(arm => `svg .arm-${arm}{display:none}`).join("");
}
for (const item of document.querySelectorAll(".arms li[data-arm]")) {
  const button = make("button", { type: "button", "aria-pressed": "true", title: "Show or hide in every chart" });
  button.append(...item.childNodes);
  item.append(button);
  button.addEventListener("click", () => {
    const arm = item.dataset.arm, shown = hidden.has(arm);
    if (shown) hidden.delete(arm); else hidden.add(arm);
    button.setAttribute("aria-pressed", String(shown));
    applyHidden();
  });
}

/* Charts: arrow keys go from value to value */
for (const figure of document.querySelectorAll("figure")) {
  const svg = figure.querySelector("svg");
  if (figure.dataset.series) curves(figure, svg, JSON.parse(figure.dataset.series));
  else if (svg.querySelector("[data-tip]")) marks(figure, svg);
}
function focusable(figure, svg, step) {
  figure.tabIndex = 0;
  figure.setAttribute("role", "group");
  figure.setAttribute("aria-label", `${svg.querySelector("title").textContent}: arrow keys go from value to value`);
  const said = figure.appendChild(make("p", { class: "said", role: "status", hidden: "" }));
  figure.addEventListener("keydown", event => {
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (!by || event.target !== figure) return;
    event.preventDefault();
    said.hidden = false;
    said.textContent = step(by);
  });
  figure.addEventListener("blur", () => { said.hidden = true; step(0); });
}
function marks(figure, svg) {
  let at = -1, lit = null;
  focusable(figure, svg, by => {
    lit?.classList.remove("lit");
    const shown = [...svg.querySelectorAll("[data-tip]")].filter(mark => getComputedStyle(mark).display !== "none");
    if (!by || !shown.length) { at = -1; return ""; }
    at = (at + by + 2 * shown.length) % shown.length;
    lit = shown[at];
    lit.classList.add("lit");
    return lit.dataset.tip;
  });
}

/* Curves: a line at the second, and the value of each arm there */
function curves(figure, svg, data) {
  const [left, top, right, bottom] = data.box, [x0, x1] = data.x, [y0, y1] = data.y;
  const place = (second, rate) =>
    [left + (second - x0) / (x1 - x0) * (right - left), bottom - (rate - y0) / (y1 - y0) * (bottom - top)];
  const cursor = svg.appendChild(document.createElementNS(SVG, "line"));
  cursor.setAttribute("stroke", "var(--chart-muted)");
  const trials = svg.appendChild(document.createElementNS(SVG, "g"));
  trials.setAttribute("class", "trials");
  const number = value => Math.round(value).toLocaleString("en");
  const last = Math.max(...data.arms.map(arm => arm.median.length)) - 1;
  const text = index => {
    const rows = data.arms.filter(arm => !hidden.has(String(arm.arm)) && index < arm.median.length);
    const values = rows.map(arm => {
      const all = arm.trials.map(trial => trial[index]).filter(value => value !== undefined);
      return `${arm.name}: ${number(arm.median[index])} (${number(Math.min(...all))} to ${number(Math.max(...all))})`;
    });
    return [`${index * data.step + 1} s, ${data.unit}, median over trials (lowest to highest)`, ...values].join("\n");
  };
  const point = index => {
    const [x] = place(index * data.step + 0.5, y0);
    for (const [key, value] of Object.entries({ x1: x, x2: x, y1: top, y2: bottom })) cursor.setAttribute(key, value);
    cursor.style.display = "";
  };
  cursor.style.display = "none";
  svg.addEventListener("pointermove", event => {
    const inside = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const second = x0 + (inside.x - left) / (right - left) * (x1 - x0);
    const index = Math.min(last, Math.max(0, Math.round((second - 0.5) / data.step)));
    point(index);
    showTip(text(index), event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; cursor.style.display = "none"; });
  let at = -1;
  focusable(figure, svg, by => {
    if (!by) { at = -1; cursor.style.display = "none"; return ""; }
    at = Math.min(last, Math.max(0, at + by));
    point(at);
    return text(at);
  });
  const tools = make("p", { class: "tools" }), button = make("button", { type: "button", "aria-pressed": "false" }, "Each trial");
  tools.append(button);
  figure.after(tools);
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") === "false";
    button.setAttribute("aria-pressed", String(on));
    trials.textContent = "";
    for (const arm of on ? data.arms : []) {
      arm.trials.forEach((trial, index) => {
        const path = document.createElementNS(SVG, "path");
        const points = trial.map((rate, i) => place(i * data.step + 0.5, rate).map(value => value.toFixed(1)).join(" "));
        path.setAttribute("d", `M${points.join("L")}`);
        path.setAttribute("stroke", `var(--chart-s${arm.arm % 6 + 1})`);
        path.setAttribute("class", `arm-${arm.arm}`);
        path.dataset.tip = `${arm.name}, block ${arm.blocks[index]}`;
        trials.append(path);
      });
    }
  });
}

/* Tables: sorted by the number of a cell, else by its first figure, or by its words; rows below a heading stay below it */
function sortKey(row, column) {
  const cell = row.cells[column], text = (cell?.firstChild?.textContent ?? "").trim();
  const figure = parseFloat(cell?.dataset.sort ?? text.replace(/\u2212/g, "-").replace(/[,\u00a0 ]/g, ""));
  return Number.isNaN(figure) ? [1, text] : [0, figure];
}
for (const table of document.querySelectorAll(".scroll table:not(.ledger):not(.schedule)")) {
  const body = table.tBodies[0];
  if (!body || body.rows.length < 3) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const label = head.querySelector("span"), button = make("button", { type: "button", class: "sort" });
    button.append(...label.childNodes);
    label.append(button);
    button.addEventListener("click", () => {
      const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
      const groups = [[]];
      for (const row of body.rows) {
        if (row.className === "group") groups.push([]);
        groups.at(-1).push(row);
      }
      for (const rows of groups) {
        const [first, ...rest] = rows[0]?.className === "group" ? rows : [null, ...rows];
        rest.sort((one, other) => {
          const [sort, value] = sortKey(one, column), [otherSort, against] = sortKey(other, column);
          return sort - otherSort || (value < against ? -way : value > against ? way : 0);
        });
        body.append(...(first ? [first] : []), ...rest);
      }
    });
  });
}

/* Print: nothing stays folded */
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const fold of folded) fold.open = true;
});
addEventListener("afterprint", () => { for (const fold of folded) fold.open = false; });
