// Two runs beside each other.

import { el, table, right, percent, points, decode, hash, cellName, choice, later, short } from "./dom.js";
import { chart } from "./chart.js";
import { get, runPath, query, Curves, GROUPS } from "./data.js";

export async function comparePage({ parts }, signal) {
  const { runs } = await get("/api/runs", signal);
  if (runs.length < 2) return [el("h1", {}, "Compare"), el("div", { className: "empty" }, el("p", {}, "There must be two runs to compare."))];
  const a = parts[1] || runs[runs.length - 1].id, b = parts[2] || (runs.find(r => r.id !== a) || {}).id;
  const named = runs.slice().reverse().map(r => [r.id, `${cellName(r)}, seed ${r.seed}${r.profile.includes("/") ? ", " + r.profile.split("/").slice(1).join("/") : ""} (${r.id.slice(-6)})`]);
  const go = (x, y) => { location.hash = hash("compare", x, y); };
  const first = choice("A", named, a, v => go(v, b)), second = choice("B", named, b, v => go(a, v));
  const form = el("form", { className: "tools pair", onsubmit: e => e.preventDefault() }, first.label, second.label, el("button", { type: "button", onclick: () => go(b, a) }, "Swap"));
  const metric = GROUPS.map(g => g.metric), of = id => Promise.all([get(runPath(id), signal), get(runPath(id) + "/series" + query({ metric }), signal)]);
  const [both, [left, leftSeries], [right_, rightSeries]] = await Promise.all([get("/api/compare" + query({ a, b }), signal), of(a), of(b)]);
  return [el("h1", {}, "Compare"), form, ...outcome(both), ...settings(both), el("h2", {}, "Curves"),
    el("p", { className: "soft" }, "A is drawn solid, B dashed; a role has the same colour in both."),
    el("div", { className: "charts" }, accuracy(left.evaluations, right_.evaluations), ...curves(leftSeries.series, rightSeries.series))];
}

function outcome({ a, b, pairs }) {
  if (!pairs.length) return [el("p", { className: "soft" }, "The two runs were not evaluated on common tasks.")];
  return [el("h2", {}, "On the same tasks"), table("Outcome on the same tasks", ["measured on", "tasks", "A", "B", "B minus A", "only A right", "only B right", "p"], pairs.map(p => [
    `${p.split}, ${decode(p.temperature)}`, right(String(p.tasks)), right(percent(p.a)), right(percent(p.b)),
    right(el("span", { className: p.b >= p.a ? "good" : "bad" }, points(p.b - p.a))), right(String(p.only_a)), right(String(p.only_b)), right(short(p.p))])),
    el("p", { className: "soft" }, "p: exact McNemar test on the tasks that only one of them solved."),
    later("Tasks on which they differ", () => el("div", { className: "columns" }, side("Only A was right", pairs, "only_a_tasks"), side("Only B was right", pairs, "only_b_tasks")))];
}

function side(title, pairs, key) {
  return el("section", {}, el("h3", {}, title), pairs.map(p => [el("p", { className: "soft" }, `${p.split}, ${decode(p.temperature)}`), el("ul", {}, p[key].map(t => el("li", {}, el("code", {}, t))))]).flat());
}

function settings({ settings }) {
  if (!settings.length) return [el("p", {}, "Both runs have the same settings.")];
  return [el("h2", {}, "Settings that differ"), table("Settings that differ", ["setting", "A", "B"], settings.map(s => [el("code", {}, s.key), s.a === null ? "–" : s.a.slice(0, 40), s.b === null ? "–" : s.b.slice(0, 40)]))];
}

function accuracy(a, b) {
  const c = chart("Accuracy", "on held-out tasks", { percent: true });
  const series = [];
  for (const [name, rows, dash] of [["A", a, false], ["B", b, true]]) {
    const temperatures = [...new Set(rows.filter(e => e.split === "held").map(e => e.temperature))].sort((x, y) => y - x);
    temperatures.forEach((t, i) => series.push({ name: `${name}, ${decode(t)}`, color: i, dash, points: rows.filter(e => e.split === "held" && e.temperature === t).map(e => [e.iteration, e.accuracy, e.stderr]) }));
  }
  c.draw(series);
  return c.figure;
}

function curves(a, b) {
  const left = new Curves(), other = new Curves();
  left.load(a);
  other.load(b);
  return GROUPS.filter(g => left.of(g.metric).length || other.of(g.metric).length).map(g => {
    const c = chart(g.title, g.note, { percent: g.percent });
    const one = (name, from, dash) => from.of(g.metric).map(s => ({ ...s, name: [name, s.role].filter(Boolean).join(" "), dash }));
    c.draw([...one("A", left, false), ...one("B", other, true)]);
    return c.figure;
  });
}
