// The list of runs.

import { el, table, right, percent, points, when, hash, cellName, state, size } from "./dom.js";
import { range } from "./chart.js";
import { get } from "./data.js";

// sampled picks the cell that a list shows of a run: held-out tasks at the
// training temperature, or whatever there is.
export function sampled(cells) {
  const rank = c => (c.split === "held" ? 0 : 2) + (c.temperature === 0 ? 1 : 0);
  return cells.slice().sort((a, b) => rank(a) - rank(b))[0];
}

// bounds is the common scale of the little pictures.
export function bounds(cells) {
  const all = cells.flatMap(c => [c.base, c.floor, c.peak, c.final]).filter(v => v !== null);
  return all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
}

export async function runsPage(_, signal) {
  const [{ runs }, { cells }] = await Promise.all([get("/api/runs", signal), get("/api/grid", signal)]);
  if (!runs.length) {
    return [el("h1", {}, "Runs"), el("div", { className: "empty" }, el("p", {}, "There is no run in this database yet."),
      el("p", {}, "Start one: ", el("code", {}, "troupe reproduce --smoke")))];
  }
  const of = new Map();
  for (const c of cells) of.set(c.run, [...(of.get(c.run) || []), c]);
  const [lo, hi] = bounds([...of.values()].map(sampled));
  const rows = runs.slice().reverse().map(r => {
    const c = sampled(of.get(r.id) || []);
    const name = el("a", { href: hash("run", r.id) }, cellName(r), r.profile && r.profile.includes("/") ? ` (${r.profile.split("/").slice(1).join("/")})` : "");
    return { text: [r.id, cellName(r), r.profile, r.state, r.model].join(" ").toLowerCase(), cells: [
      name, state(r.state), right(String(r.iteration)), right(c ? percent(c.base) : "–"), right(c ? percent(c.final) : "–"),
      right(c && c.base !== null && c.final !== null ? el("span", { className: c.final >= c.base ? "good" : "bad" }, points(c.final - c.base)) : "–"),
      c ? range(c, lo, hi) : "", right(c ? String(c.alarms) : "–"), right(String(r.seed)), el("span", { className: "soft" }, [r.profile, size(c && c.parameters)].filter(Boolean).join(", ")), el("span", { className: "soft nowrap" }, when(r.created_at))] };
  });
  const holder = el("div"), count = el("p", { className: "soft", role: "status" });
  const show = text => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean), kept = rows.filter(r => words.every(w => r.text.includes(w)));
    count.textContent = `${kept.length} of ${rows.length} runs`;
    holder.replaceChildren(table("Runs", ["run", "state", "iteration", "base", "final", "gain", "base to final", "alarms", "seed", "profile", "started (UTC)"], kept.map(r => r.cells), { wide: ["profile", "started (UTC)"] }));
  };
  const filter = el("input", { type: "search", placeholder: "voting math", autocomplete: "off" });
  filter.addEventListener("input", () => show(filter.value));
  show("");
  return [el("h1", {}, "Runs"), el("div", { className: "tools" }, el("label", {}, "Filter", filter), count), holder];
}
