// One run: its state, its curves as they grow, and what it is made of.

import { el, table, right, percent, points, short, when, decode, hash, cellName, state, size, later, missing } from "./dom.js";
import { chart } from "./chart.js";
import { get, runPath, query, follow, Curves, GROUPS } from "./data.js";

export async function runPage({ parts }, signal, status) {
  const id = parts[1], base = runPath(id);
  const [about, { series }, { events }] = await Promise.all([
    get(base, signal), get(base + "/series" + query({ metric: ["model/parameters", ...GROUPS.map(g => g.metric)] }), signal), get(base + "/events", signal)]);
  const page = new RunPage(about, series, events);
  const nodes = page.nodes();
  page.draw();
  page.watch(signal, status);
  return nodes;
}

class RunPage {
  constructor({ run, config, evaluations }, series, events) {
    Object.assign(this, { run, config, evaluations, events });
    this.curves = new Curves();
    this.curves.load(series);
    this.accuracy = chart("Accuracy", "on tasks never trained on, ± one standard error", { percent: true });
    this.charts = GROUPS.map(g => ({ ...g, ...chart(g.title, g.note, { percent: g.percent }) }));
    this.top = el("div", { className: "facts" });
    this.alarms = el("section", { "aria-label": "Alarms" });
    this.evals = el("div");
    this.badge = el("span");
  }

  nodes() {
    const r = this.run;
    return [
      el("p", { className: "crumbs" }, el("a", { href: "#/" }, "Runs"), " / ", el("span", { className: "soft" }, r.id)),
      el("div", { className: "heading" }, el("h1", {}, cellName(r)), this.badge,
        el("span", { className: "actions" }, el("a", { className: "button", href: hash("run", r.id, "episodes", "last") }, "Episodes"),
          el("a", { className: "button", href: hash("compare", r.id) }, "Compare"))),
      this.top,
      el("h2", {}, "Curves"),
      el("div", { className: "charts" }, this.charts[0].figure, this.accuracy.figure, ...this.charts.slice(1).map(c => c.figure)),
      this.alarms,
      el("h2", {}, "More"),
      later("Evaluations", () => this.evaluationTable()),
      later("All other metrics", () => this.others()),
      later("Configuration", () => el("pre", {}, this.config)),
    ];
  }

  draw() {
    const alarms = this.events.filter(e => e.severity !== "info"), at = e => ({ x: e.iteration, text: e.message, severity: e.severity });
    this.drawFacts(alarms);
    const by = new Map();
    for (const e of this.evaluations.slice().sort((a, b) => b.temperature - a.temperature || a.iteration - b.iteration)) {
      const name = [e.split === "held" ? "" : e.split, decode(e.temperature)].filter(Boolean).join(", ");
      if (!by.has(name)) by.set(name, []);
      by.get(name).push([e.iteration, e.accuracy, e.stderr]);
    }
    this.accuracy.draw([...by].map(([name, points], i) => ({ name, points, color: i % 7, dash: name.endsWith("greedy") })), alarms.filter(e => e.kind === "cliff").map(at));
    for (const c of this.charts) {
      const series = this.curves.of(c.metric);
      c.draw(series, alarms.filter(e => c.alarms.includes(e.kind) && (!e.role || series.some(s => s.role === e.role || !s.role))).map(at));
      c.figure.hidden = !series.length;
    }
    this.alarms.replaceChildren(...(alarms.length ? [el("h2", {}, "Alarms"), el("p", { className: "soft" }, "They say “look here”, not “this run is lost”. Those of a curve are marked on it."),
      table("Alarms", ["iteration", "kind", "role", "what happened"], alarms.slice(-50).map(e => [right(String(e.iteration)), e.kind.replaceAll("_", " "), e.role || "all", el("span", { className: "wrap" }, e.message)]))] : []));
  }

  drawFacts(alarms) {
    const r = this.run, total = Number((/^iterations: (\d+)/m.exec(this.config) || [])[1]);
    this.badge.replaceChildren(state(r.state));
    const held = this.evaluations.filter(e => e.split === "held" && e.temperature !== 0 && !missing(e.accuracy));
    const acc = held.map(e => e.accuracy), first = acc[0], last = acc[acc.length - 1];
    const peak = Math.max(...acc), floor = Math.min(...acc.slice(acc.indexOf(peak)));
    const rewards = this.curves.of("critic/rewards/mean").find(s => s.role === "");
    const parameters = (this.curves.of("model/parameters")[0] || { points: [[0, 0]] }).points[0][1];
    const fact = (name, value, more) => el("div", { className: "fact" }, el("dt", {}, name), el("dd", {}, value, more ? el("small", {}, more) : null));
    this.top.replaceChildren(el("dl", {},
      fact("Iteration", total ? `${r.iteration} / ${total}` : String(r.iteration), total ? el("progress", { max: total, value: r.iteration, "aria-label": "iterations done" }) : null),
      acc.length ? fact("Accuracy", percent(last), `base ${percent(first)}, ${points(last - first)} points`) : null,
      acc.length ? fact("Ceiling", percent(peak), `at ${held[acc.indexOf(peak)].iteration}, floor after it ${percent(floor)}`) : null,
      rewards && rewards.points.length ? fact("Reward", short(rewards.points[rewards.points.length - 1][1]), "newest iteration") : null,
      fact("Alarms", String(alarms.filter(e => e.severity === "alarm").length), alarms.length ? "newest at " + alarms[alarms.length - 1].iteration : "none"),
      fact("Model", size(parameters) || r.model.slice(0, 8), [parameters ? "parameters" : "", r.numerics, "seed " + r.seed].filter(Boolean).join(", ")),
      fact("Started", when(r.created_at).slice(11), `${when(r.created_at).slice(0, 10)} UTC, profile ${r.profile}`)));
  }

  evaluationTable() {
    return table("Evaluations", ["iteration", "split", "decoding", "accuracy", "± se", "tasks"], this.evaluations.map(e =>
      [right(String(e.iteration)), e.split, decode(e.temperature), right(percent(e.accuracy)), right(percent(e.stderr)), right(String(e.n))]));
  }

  async others() {
    const { series } = await get(runPath(this.run.id) + "/series");
    const rest = new Curves(), known = new Set(["model/parameters", ...GROUPS.map(g => g.metric)]);
    rest.load(series.filter(s => !known.has(s.metric)));
    return el("div", { className: "charts" }, [...rest.by.keys()].sort().map(metric => {
      const c = chart(metric, "");
      c.draw(rest.of(metric));
      return c.figure;
    }));
  }

  // watch takes in what the server sends while the run goes on; where there is
  // no stream it asks every few seconds.
  watch(signal, status) {
    let due = 0;
    const soon = () => { due = due || setTimeout(() => { due = 0; if (!signal.aborted) this.draw(); }, 400); };
    signal.addEventListener("abort", () => clearTimeout(due));
    follow(this.run.id, this.run.iteration, (event, data) => {
      if (event === "open") status(this.run.state === "running" ? "live" : "");
      if (event === "lost" || event === "end") status("connection lost, trying again");
      if (event === "run") { Object.assign(this.run, data); status(data.state === "running" ? "live" : ""); }
      if (event === "rewind") location.reload();
      if (event === "iteration") this.take(data);
      if (event === "run" || event === "iteration") soon();
    }, signal);
  }

  take({ iteration, metrics, evaluations, events }) {
    const known = new Set(GROUPS.map(g => g.metric));
    for (const m of metrics) if (m.slot === undefined && known.has(m.metric)) this.curves.add(m.metric, m.role || "", m.iteration, m.value);
    const newer = (list, rows) => { for (const x of rows) if (!list.some(y => JSON.stringify(y) === JSON.stringify(x))) list.push(x); };
    newer(this.evaluations, evaluations);
    newer(this.events, events);
    this.events = this.events.slice(-2000);
    this.run.iteration = Math.max(this.run.iteration, iteration);
  }
}
