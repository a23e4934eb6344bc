// The grid: what training did to every cell, with ceiling and floor.

import { el, table, right, percent, points, hash, decode, choice, size, state } from "./dom.js";
import { range } from "./chart.js";
import { bounds } from "./runs.js";
import { get } from "./data.js";

const WORKFLOWS = ["single", "evalopt", "voting", "orch"];
const order = c => [c.parameters || 0, WORKFLOWS.indexOf(c.workflow), c.policy === "shared" ? 0 : 1, c.seed];

function byOrder(a, b) {
  const x = order(a), y = order(b);
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return x[i] - y[i];
  return a.run < b.run ? -1 : 1;
}

export async function gridPage({ params }, signal) {
  const { cells } = await get("/api/grid", signal);
  if (!cells.length) return [el("h1", {}, "Grid"), el("div", { className: "empty" }, el("p", {}, "No run was evaluated yet."))];
  const kinds = [...new Set(cells.map(c => c.split + "|" + c.temperature))].sort((a, b) => rank(a) - rank(b));
  const kind = kinds.includes(params.get("of")) ? params.get("of") : kinds[0];
  const pick = choice("Measured on", kinds.map(k => [k, k.replace("held|", "held-out tasks, ").replace("|", ", ").replace(/, 0$/, ", greedy").replace(/, ([\d.]+)$/, ", T $1")]), kind,
    v => { location.hash = "#/grid?of=" + encodeURIComponent(v); });
  const [split, temperature] = kind.split("|"), shown = cells.filter(c => c.split === split && String(c.temperature) === temperature).sort(byOrder);
  const grid = shown.filter(c => !c.profile.includes("/") && c.profile !== "eval"), controls = shown.filter(c => c.profile.includes("/")), evals = shown.filter(c => c.profile === "eval");
  const tasks = [...new Set(grid.map(c => c.task))].sort().reverse(), [lo, hi] = bounds(shown);
  return [el("h1", {}, "Grid"),
    el("div", { className: "tools" }, pick.label, legend()),
    ...tasks.flatMap(t => [el("h2", {}, t), cellTable(t, grid.filter(c => c.task === t), lo, hi)]),
    ...(controls.length ? [el("h2", {}, "Controls"), cellTable("controls", controls, lo, hi)] : []),
    ...(evals.length ? [el("h2", {}, "Evaluations"), cellTable("evaluations", evals, lo, hi)] : []),
    el("p", { className: "soft" }, "Ceiling: the best evaluation; floor: the lowest after it. Gain is final minus base in points of accuracy, with one standard error of the final value.")];
}

const rank = k => (k.startsWith("held") ? 0 : 2) + (k.endsWith("|0") ? 1 : 0);

function legend() {
  return el("p", { className: "legend soft" }, el("span", { className: "key ring" }, "base"), el("span", { className: "key disc" }, "final"), el("span", { className: "key bar" }, "floor to ceiling"));
}

function cellTable(caption, cells, lo, hi) {
  const several = f => new Set(cells.map(f)).size > 1;
  const seeds = several(c => c.seed), scales = several(c => c.parameters), arms = cells.some(c => c.profile.includes("/")), states = cells.some(c => c.state !== "done");
  const head = ["workflow", "policy", ...(arms ? ["arm"] : []), ...(scales ? ["parameters"] : []), ...(seeds ? ["seed"] : []), ...(states ? ["state"] : []), "tasks", "base", "floor", "ceiling", "final", "gain ± se", "base to final"];
  return table("Grid, " + caption, head, cells.map(c => [
    el("a", { href: hash("run", c.run) }, c.workflow), c.workflow === "single" ? "–" : c.policy, ...(arms ? [c.profile.split("/").slice(1).join("/")] : []),
    ...(scales ? [right(size(c.parameters))] : []), ...(seeds ? [right(String(c.seed))] : []), ...(states ? [state(c.state)] : []),
    right(String(c.n)), right(percent(c.base)), right(percent(c.floor)), right([percent(c.peak), el("small", { className: "soft" }, ` @${c.peak_at}`)]), right(percent(c.final)),
    right([el("span", { className: c.final >= c.base ? "good" : "bad" }, points(c.final - c.base)), el("small", { className: "soft" }, c.stderr === null ? "" : ` ± ${(100 * c.stderr).toFixed(1)}`)]),
    range(c, lo, hi)]), { wide: ["gain ± se"] });
}
