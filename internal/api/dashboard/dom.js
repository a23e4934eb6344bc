// Elements, tables and numbers. Text from runs only ever enters the page as
// text nodes.

export function el(name, props, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(props || {})) {
    if (v === null || v === undefined) continue;
    if (k in e && !k.startsWith("aria")) e[k] = v; else e.setAttribute(k, v);
  }
  e.append(...children.flat().filter(c => c !== null && c !== undefined && c !== ""));
  return e;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes, ...children) {
  const e = document.createElementNS(SVG, name);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

export const missing = v => v === null || v === undefined || Number.isNaN(v);
export const percent = v => missing(v) ? "–" : (100 * v).toFixed(1) + "\u00a0%";
export const points = v => missing(v) ? "–" : (v > 0 ? "+" : v < 0 ? "−" : "±") + Math.abs(100 * v).toFixed(1);

export function short(v) {
  if (missing(v)) return "–";
  if (v === 0) return "0";
  const a = Math.abs(v);
  const text = a >= 1e5 || a < 1e-3 ? v.toExponential(1).replace(".0", "") : String(+v.toPrecision(3));
  return text.replace("-", "−").replace("e+", "e");
}

// size is a number of parameters: 69 k, 135 M.
export function size(n) {
  if (!n) return "";
  for (const [unit, name] of [[1e9, "B"], [1e6, "M"], [1e3, "k"]]) if (n >= unit) return `${+(n / unit).toPrecision(3)}\u00a0${name}`;
  return String(n);
}

export const when = iso => iso ? iso.replace("T", " ").slice(0, 16) : "";
export const decode = t => t === 0 ? "greedy" : "T " + t;
export const cellName = r => [r.workflow, r.workflow === "single" ? "" : r.policy, r.task].filter(Boolean).join(" · ");
export const hash = (...parts) => "#/" + parts.map(p => encodeURIComponent(p)).join("/");

const STATE = { done: "good", failed: "bad", stopped: "warn", running: "live" };
export const state = s => el("span", { className: "tag " + (STATE[s] || "soft") }, s);

const VERDICT = {
  AC: "accepted", WA: "wrong answer", RE: "runtime error", TLE: "time limit", MLE: "memory limit", OLE: "output limit",
  CE: "does not compile", NA: "no answer found", IE: "infrastructure failure",
};
export const verdict = code => el("span", { className: "tag " + (code === "AC" ? "good" : code === "IE" ? "warn" : "bad"), title: VERDICT[code] || code }, code);
export const verdictName = code => VERDICT[code] || code;

// ROLES keeps a role's colour the same on every chart.
const ROLES = ["generator", "aggregator", "evaluator", "orchestrator", "worker", "synthesizer"];
export function roleColor(role) {
  const i = ROLES.indexOf(role);
  return i >= 0 ? i : 6;
}

// right marks a number, to be lined up.
export const right = (text, props) => ({ right: true, text, props });

// table makes rows of cells; on a phone each row becomes a card, so the roles
// that layout takes away are named.
export function table(caption, head, rows, options) {
  const numeric = head.map((_, i) => rows.some(r => r[i] && r[i].right));
  const cell = (c, i) => {
    const first = i === 0;
    const value = c && c.right ? c.text : c, content = Array.isArray(value) ? el("span", { className: "nowrap" }, value) : value;
    return el(first ? "th" : "td", { className: (numeric[i] ? "n" : "") + (options && options.wide && options.wide.includes(head[i]) ? " wide" : ""), "data-label": head[i], scope: first ? "row" : null, role: first ? "rowheader" : "cell" }, content);
  };
  return el("div", { className: "scroll", tabIndex: rows.length ? 0 : null, role: "region", "aria-label": caption },
    el("table", { className: "cards " + ((options && options.className) || ""), role: "table", "aria-label": caption },
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, head.map((h, i) => el("th", { scope: "col", role: "columnheader", className: numeric[i] ? "n" : "" }, h)))),
      el("tbody", { role: "rowgroup" }, rows.map(r => el("tr", { role: "row" }, r.map(cell))))));
}

// choice is a labelled select; pairs are [value, text].
export function choice(label, pairs, chosen, onchange) {
  const s = el("select", {}, pairs.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, text)));
  if (onchange) s.addEventListener("change", () => onchange(s.value));
  return { select: s, label: el("label", {}, label, s) };
}

// later fills a details element when it is first opened.
export function later(summary, fill, props) {
  const d = el("details", props, el("summary", {}, summary));
  d.addEventListener("toggle", async () => {
    if (!d.open || d.dataset.filled) return;
    d.dataset.filled = "1";
    d.append(...[await fill()].flat());
  });
  return d;
}
