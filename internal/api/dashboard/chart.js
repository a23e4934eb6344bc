// Line charts as inline SVG with a legend, a reading line under the pointer,
// and a table of values behind each.

import { el, svg, short, percent, table, right, missing } from "./dom.js";

const W = 360, H = 200, L = 46, R = 10, T = 12, B = 24;

// ticks lists round numbers that cover lo to hi.
function ticks(lo, hi, count) {
  const raw = (hi - lo) / count, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map(k => k * unit).find(s => s >= raw * 0.999) || unit * 10;
  const out = [];
  for (let v = Math.ceil(lo / step - 1e-9) * step; v <= hi + step * 1e-9; v += step) out.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return out;
}

// extent is the range of everything drawn, never empty. Values that span several
// powers of ten, one spike among them, are drawn on a logarithmic scale, unless
// they are shares.
function extent(series, shares) {
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (const s of series) for (const [x, y, se] of s.points) {
    if (x < x0) x0 = x;
    if (x > x1) x1 = x;
    if (y - (se || 0) < y0) y0 = y - (se || 0);
    if (y + (se || 0) > y1) y1 = y + (se || 0);
  }
  if (x1 === x0) x1 = x0 + 1;
  if (!shares && y0 > 0 && y1 / y0 > 60) return { x0, x1, y0: y0 / 1.15, y1: y1 * 1.15, log: true };
  const pad = (y1 - y0) * 0.06 || Math.abs(y1) * 0.1 || 1;
  return { x0, x1, y0: y0 - pad, y1: y1 + pad };
}

// decades lists 1, 10, 100, …, with 2 and 5 between where there are few.
function decades(lo, hi) {
  const out = [], few = Math.log10(hi / lo) < 2.2;
  for (let d = Math.floor(Math.log10(lo)); d <= Math.log10(hi); d++) for (const k of few ? [1, 2, 5] : [1]) out.push(k * 10 ** d);
  return out.filter(v => v >= lo && v <= hi);
}

// chart makes an empty figure. draw fills it, and again whenever there is more:
// series are {name, color, dash, points: [[x, y, se?], …]}, events {x, text, severity}.
export function chart(title, note, options) {
  const format = options && options.percent ? v => missing(v) ? "–" : (100 * v).toFixed(1) + "\u00a0%" : short;
  const axis = options && options.percent ? v => String(+(100 * v).toFixed(1)) + "%" : short;
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img" });
  const legend = el("div", { className: "legend" });
  const unit = el("span", { className: "soft" });
  const caption = el("figcaption", {}, el("span", { className: "title" }, title), note ? el("span", { className: "soft" }, note) : null, unit);
  let shown = [], marks = [], scale = null;
  const values = el("details", { className: "values" }, el("summary", {}, "Values"));
  const fill = () => values.replaceChildren(values.firstChild, valueTable(title, shown, format));
  values.addEventListener("toggle", () => { if (values.open) fill(); });
  const figure = el("figure", { "aria-label": title }, caption, picture, legend, values);
  const cursor = svg("g", { class: "cursor" });

  function draw(series, events) {
    shown = series.map(s => ({ ...s, name: s.name || (series.length > 1 ? "all" : ""), points: s.points.filter(p => !missing(p[1])) })).filter(s => s.points.length);
    marks = events || [];
    if (values.open) fill();
    picture.replaceChildren();
    legend.replaceChildren();
    if (!shown.length) {
      picture.setAttribute("aria-label", `${title}: no values yet`);
      picture.append(svg("text", { x: W / 2, y: H / 2, "text-anchor": "middle" }, "no values yet"));
      return;
    }
    scale = scales(extent(shown, options && options.percent));
    picture.setAttribute("aria-label", describe(title, shown, marks, format));
    picture.append(axes(scale, axis), ...marks.filter(e => e.x >= scale.x0 && e.x <= scale.x1).map(e => mark(scale, e)), ...shown.flatMap(s => curve(scale, s)), cursor);
    cursor.replaceChildren();
    unit.textContent = scale.log ? "logarithmic scale" : "";
    legend.append(...shown.map(s => el("span", { className: "key c" + s.color + (s.dash ? " dashed" : "") },
      s.name ? s.name + " " : "", el("b", {}, format(s.points[s.points.length - 1][1])))));
  }

  picture.addEventListener("pointermove", e => {
    if (!scale || !shown.length) return;
    const box = picture.getBoundingClientRect();
    cursor.replaceChildren(...reading(scale, shown, marks, scale.at((e.clientX - box.left) / box.width * W), format));
  });
  picture.addEventListener("pointerleave", () => cursor.replaceChildren());
  return { figure, draw };
}

function scales({ x0, x1, y0, y1, log }) {
  const along = log ? v => Math.log(v / y0) / Math.log(y1 / y0) : v => (v - y0) / (y1 - y0);
  return {
    x0, x1, y0, y1, log,
    x: v => L + (v - x0) / (x1 - x0) * (W - L - R),
    y: v => H - B - Math.max(0, along(v)) * (H - T - B),
    at: px => x0 + (px - L) / (W - L - R) * (x1 - x0),
  };
}

function axes(s, format) {
  const g = svg("g", { class: "axes" });
  for (const y of s.log ? decades(s.y0, s.y1) : ticks(s.y0, s.y1, 4)) {
    g.append(svg("line", { x1: L, x2: W - R, y1: s.y(y), y2: s.y(y) }), svg("text", { x: L - 6, y: s.y(y) + 4, "text-anchor": "end" }, format(y)));
  }
  for (const x of ticks(s.x0, s.x1, 5).filter(Number.isInteger)) {
    g.append(svg("text", { x: s.x(x), y: H - 7, "text-anchor": "middle" }, String(x)));
  }
  g.append(svg("text", { class: "unit", x: 0, y: H - 7 }, "iteration"));
  return g;
}

function mark(s, e) {
  const x = s.x(e.x);
  return svg("g", { class: "event " + e.severity }, svg("line", { x1: x, x2: x, y1: T, y2: H - B }),
    svg("path", { d: `M${x - 4} ${T - 8}h8l-4 7z` }), svg("title", {}, `iteration ${e.x}: ${e.text}`));
}

const path = (s, points) => points.map((p, i) => (i ? "L" : "M") + s.x(p[0]).toFixed(1) + " " + s.y(p[1]).toFixed(1)).join("");

function curve(s, { points, color, dash }) {
  const out = [];
  if (points.some(p => p[2])) {
    const upper = points.map(p => [p[0], p[1] + (p[2] || 0)]), lower = points.map(p => [p[0], p[1] - (p[2] || 0)]).reverse();
    out.push(svg("path", { class: "band c" + color, d: path(s, upper) + path(s, lower).replace("M", "L") + "Z" }));
  }
  out.push(svg("path", { class: "line c" + color + (dash ? " dashed" : ""), d: path(s, points) }));
  if (points.length < 12) out.push(...points.map(p => svg("circle", { class: "dot c" + color, cx: s.x(p[0]), cy: s.y(p[1]), r: 2.6 })));
  return out;
}

function nearest(points, x) {
  let best = points[0];
  for (const p of points) if (Math.abs(p[0] - x) < Math.abs(best[0] - x)) best = p;
  return best;
}

function reading(s, series, events, x, format) {
  const at = nearest(series.flatMap(q => q.points), x)[0], px = s.x(at);
  const rows = series.map(q => [q, nearest(q.points, at)]).filter(([, p]) => p[0] === at);
  const lines = ["iteration " + at, ...rows.map(([q, p]) => `${q.name} ${format(p[1])}`), ...events.filter(e => e.x === at).map(e => "⚠ " + e.text.slice(0, 40))];
  const width = Math.max(...lines.map(t => t.length)) * 6 + 12, left = px > W / 2 ? px - width - 6 : px + 6;
  return [
    svg("line", { x1: px, x2: px, y1: T, y2: H - B }),
    ...rows.map(([q, p]) => svg("circle", { class: "dot c" + q.color, cx: px, cy: s.y(p[1]), r: 3.4 })),
    svg("rect", { x: Math.max(2, left), y: T, width, height: lines.length * 14 + 6, rx: 4 }),
    ...lines.map((t, i) => svg("text", { x: Math.max(2, left) + 6, y: T + 14 + i * 14 }, t)),
  ];
}

function describe(title, series, events, format) {
  const parts = series.map(s => {
    const first = s.points[0], last = s.points[s.points.length - 1];
    return `${s.name || title} from ${format(first[1])} at iteration ${first[0]} to ${format(last[1])} at ${last[0]}`;
  });
  return `${title}. ${parts.join("; ")}${events.length ? `; ${events.length} events marked` : ""}.`;
}

// valueTable shows about two dozen iterations, the ends among them.
function valueTable(title, series, format) {
  const xs = [...new Set(series.flatMap(s => s.points.map(p => p[0])))].sort((a, b) => a - b);
  const step = Math.max(1, Math.ceil(xs.length / 24)), picked = xs.filter((_, i) => i % step === 0 || i === xs.length - 1);
  const maps = series.map(s => new Map(s.points.map(p => [p[0], p[1]])));
  return table(`Values of ${title}`, ["iteration", ...series.map(s => s.name || title)],
    picked.map(x => [right(String(x)), ...maps.map(m => right(m.has(x) ? format(m.get(x)) : ""))]), { className: "plain" });
}

// range draws base, floor to ceiling, and final of one cell between 0 and 1.
export function range(cell, lo, hi) {
  const w = 150, x = v => 6 + (v - lo) / (hi - lo || 1) * (w - 12);
  const picture = svg("svg", { viewBox: `0 0 ${w} 16`, class: "range", role: "img",
    "aria-label": `base ${percent(cell.base)}, floor ${percent(cell.floor)}, ceiling ${percent(cell.peak)}, final ${percent(cell.final)}` });
  picture.append(svg("line", { class: "rail", x1: 6, x2: w - 6, y1: 8, y2: 8 }));
  if (missing(cell.base) || missing(cell.final)) return picture;
  const color = cell.final >= cell.base ? "up" : "down";
  picture.append(svg("line", { class: "way " + color, x1: x(cell.base), x2: x(cell.final), y1: 8, y2: 8 }));
  if (!missing(cell.floor) && cell.floor < cell.peak) picture.append(svg("line", { class: "span", x1: x(cell.floor), x2: x(cell.peak), y1: 13, y2: 13 }));
  picture.append(svg("circle", { class: "from", cx: x(cell.base), cy: 8, r: 3.5 }), svg("circle", { class: "to " + color, cx: x(cell.final), cy: 8, r: 4.5 }));
  return picture;
}
