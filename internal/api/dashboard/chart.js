"use strict";
// Line charts as inline SVG, drawn from [{name, points: [[x, y], …]}].

const SVG = "http://www.w3.org/2000/svg";
const DASH = ["", "6 3", "2 3", "8 3 2 3", "1 4", "10 4"];

function svgElement(name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

function shortNumber(v) {
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a >= 1e4 || a < 1e-3) return v.toExponential(1);
  return String(+v.toPrecision(3));
}

// thin keeps at most n points of a long series: the extremes of each stretch.
function thin(points, n) {
  if (points.length <= n) return points;
  const out = [], step = points.length / (n / 2);
  for (let i = 0; i < points.length; i += step) {
    const part = points.slice(Math.floor(i), Math.max(Math.floor(i) + 1, Math.floor(i + step)));
    let lo = part[0], hi = part[0];
    for (const p of part) { if (p[1] < lo[1]) lo = p; if (p[1] > hi[1]) hi = p; }
    out.push(...(lo[0] <= hi[0] ? [lo, hi] : [hi, lo]));
  }
  return out;
}

// chart makes a figure. events are x positions to mark.
function chart(title, series, events) {
  const W = 340, H = 190, L = 46, R = 8, T = 8, B = 24;
  series = series.map(s => ({ name: s.name, points: thin(s.points.filter(p => p[1] !== null), 600) })).filter(s => s.points.length);
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = title;
  figure.append(caption);
  if (!series.length) { figure.append("no values yet"); return figure; }
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (const s of series) for (const [x, y] of s.points) {
    x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, y); y1 = Math.max(y1, y);
  }
  if (x1 === x0) x1 = x0 + 1;
  if (y1 === y0) { y1 += Math.abs(y1) / 10 || 1; y0 -= Math.abs(y0) / 10 || 1; }
  const px = x => L + (x - x0) / (x1 - x0) * (W - L - R), py = y => H - B - (y - y0) / (y1 - y0) * (H - T - B);
  const last = series.map(s => `${s.name} ${shortNumber(s.points[s.points.length - 1][1])}`).join(", ");
  const svg = svgElement("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title}: last values ${last}` });
  for (let i = 0; i <= 3; i++) {
    const y = y0 + (y1 - y0) * i / 3;
    svg.append(svgElement("line", { class: "axis", x1: L, x2: W - R, y1: py(y), y2: py(y) }));
    svg.append(svgElement("text", { x: L - 5, y: py(y) + 4, "text-anchor": "end" }, shortNumber(y)));
  }
  svg.append(svgElement("text", { x: L, y: H - 6 }, shortNumber(x0)));
  svg.append(svgElement("text", { x: W - R, y: H - 6, "text-anchor": "end" }, shortNumber(x1)));
  for (const x of events || []) {
    if (x >= x0 && x <= x1) svg.append(svgElement("line", { class: "event", x1: px(x), x2: px(x), y1: T, y2: H - B }));
  }
  const legend = document.createElement("div");
  legend.className = "legend";
  series.forEach((s, i) => {
    const color = `var(--c${i % 6})`;
    svg.append(svgElement("polyline", {
      points: s.points.map(p => `${px(p[0]).toFixed(1)},${py(p[1]).toFixed(1)}`).join(" "),
      fill: "none", style: `stroke: ${color}`, "stroke-width": 2, "stroke-dasharray": DASH[i % 6],
    }));
    if (s.points.length === 1) svg.append(svgElement("circle", { cx: px(s.points[0][0]), cy: py(s.points[0][1]), r: 3, style: `fill: ${color}` }));
    const name = document.createElement("span");
    name.style.setProperty("--c", color);
    name.style.setProperty("--dash", i % 6 ? "dashed" : "solid");
    name.textContent = s.name;
    legend.append(name);
  });
  figure.append(svg, legend);
  return figure;
}
