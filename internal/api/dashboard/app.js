"use strict";
// The dashboard: a page for each hash route, drawn from the JSON API. Text from
// runs only ever enters the page as text nodes.

const main = document.getElementById("main"), stateLine = document.getElementById("state");
let timer = 0, drawn = 0;

function el(name, props, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(props || {})) k in e ? e[k] = v : e.setAttribute(k, v);
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}

async function get(path) {
  const headers = {}, token = sessionStorage.getItem("token");
  if (token) headers.Authorization = "Bearer " + token;
  const r = await fetch(path, { headers });
  if (r.status === 401) { askToken(); throw new Error("this server asks for a token"); }
  const body = await r.json();
  if (!r.ok) throw new Error(body.error || r.statusText);
  return body;
}

function askToken() {
  const input = el("input", { type: "password", autocomplete: "off", required: true });
  main.replaceChildren(el("form", { onsubmit: e => { e.preventDefault(); sessionStorage.setItem("token", input.value); route(); } },
    el("label", {}, "Token of this server", input), el("button", {}, "Use")));
}

const percent = v => v === null || v === undefined ? "–" : (100 * v).toFixed(1) + " %";
const stateClass = s => ({ done: "good", failed: "bad", stopped: "warn" }[s] || "soft");
const runName = r => `${r.workflow} · ${r.policy} · ${r.task}`;

function table(head, rows) {
  const numeric = c => c instanceof Object && c.n !== undefined;
  return el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": head.join(", ") }, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((h, i) => el("th", { scope: "col", className: rows[0] && numeric(rows[0][i]) ? "n" : "" }, h)))),
    el("tbody", {}, ...rows.map(r => el("tr", {}, ...r.map(c => numeric(c) ? el("td", { className: "n" }, c.n) : el("td", {}, c)))))));
}

async function runsPage() {
  const { runs } = await get("/api/runs");
  const rows = runs.slice().reverse().map(r => [
    el("a", { href: "#/run/" + encodeURIComponent(r.id) }, r.id.slice(0, 12)), el("span", { className: "tag " + stateClass(r.state) }, r.state),
    r.workflow, r.policy, r.task, r.model, { n: String(r.iteration) }, r.created_at.replace("T", " ").slice(0, 16)]);
  return [el("h1", {}, "Runs"), rows.length ? table(["run", "state", "workflow", "policy", "task", "model", "iteration", "started (UTC)"], rows)
    : el("p", {}, "No run in this database yet. Start one with: troupe reproduce --smoke")];
}

// The charts of a run, in the order in which a person looks at them; all other
// metrics follow.
const FIRST = ["reward/mean", "accuracy", "actor/grad_norm", "actor/ppl_base", "actor/ppl", "actor/entropy", "actor/amplification", "actor/mass_share", "actor/capture", "actor/lr"];

function metricCharts(metrics, events) {
  const by = new Map();
  for (const m of metrics) {
    if (m.slot !== undefined) continue;
    if (!by.has(m.metric)) by.set(m.metric, new Map());
    const roles = by.get(m.metric), role = m.role || "all";
    if (!roles.has(role)) roles.set(role, []);
    roles.get(role).push([m.iteration, m.value]);
  }
  const rank = n => { const i = FIRST.indexOf(n); return i < 0 ? FIRST.length : i; };
  const names = [...by.keys()].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  return names.map(n => chart(n, [...by.get(n)].map(([name, points]) => ({ name, points })), events));
}

function evalCharts(evaluations) {
  const by = new Map();
  for (const e of evaluations) {
    const name = `${e.split}, ${e.temperature === 0 ? "greedy" : "T " + e.temperature}`;
    if (!by.has(name)) by.set(name, []);
    by.get(name).push([e.iteration, e.accuracy]);
  }
  return by.size ? [chart("accuracy", [...by].map(([name, points]) => ({ name, points })))] : [];
}

async function runPage(id) {
  const base = "/api/runs/" + encodeURIComponent(id);
  const [{ run, evaluations, config }, { metrics }, { events }] = await Promise.all([get(base), get(base + "/metrics"), get(base + "/events")]);
  if (run.state === "running") timer = setTimeout(route, 5000);
  const alarms = events.filter(e => e.severity !== "info");
  return [
    el("h1", {}, runName(run) + " ", el("span", { className: "tag " + stateClass(run.state) }, run.state)),
    el("p", { className: "soft" }, `run ${run.id} · model ${run.model} · seed ${run.seed} · iteration ${run.iteration} · `,
      el("a", { href: `#/run/${encodeURIComponent(id)}/episodes/${run.iteration}` }, "episodes")),
    alarms.length ? el("section", {}, el("h2", {}, "Alarms"), table(["iteration", "kind", "role", "what"], alarms.slice(-20).map(e => [{ n: String(e.iteration) }, e.kind, e.role || "", e.message]))) : null,
    el("h2", {}, "Curves"), el("div", { className: "charts" }, ...evalCharts(evaluations), ...metricCharts(metrics, alarms.map(e => e.iteration))),
    evaluations.length ? el("section", {}, el("h2", {}, "Evaluations"), table(["iteration", "split", "temperature", "accuracy", "± se", "tasks"],
      evaluations.map(e => [{ n: String(e.iteration) }, e.split, { n: e.temperature === 0 ? "greedy" : String(e.temperature) }, { n: percent(e.accuracy) }, { n: percent(e.stderr) }, { n: String(e.n) }]))) : null,
    el("h2", {}, "Config"), el("pre", {}, config)];
}

async function episodesPage(id, iteration) {
  const n = Number(iteration) || 0;
  const page = await get(`/api/runs/${encodeURIComponent(id)}/iterations/${n}/episodes`);
  const step = d => el("a", { href: `#/run/${encodeURIComponent(id)}/episodes/${Math.max(0, n + d)}` }, d < 0 ? "← earlier" : "later →");
  return [
    el("h1", {}, `Episodes of iteration ${n}`),
    el("p", {}, step(-1), " ", step(1), " ", el("a", { href: "#/run/" + encodeURIComponent(id) }, "back to the run"), ` · ${page.total} episodes`),
    ...page.episodes.map(e => el("details", {},
      el("summary", {}, el("span", { className: "tag " + (e.verdict === "AC" ? "good" : e.verdict === "IE" ? "warn" : "bad") }, e.verdict), ` ${e.task} · rollout ${e.rollout} · ${e.split}`),
      ...(e.calls || []).map(c => el("div", { className: "call" },
        el("div", { className: "soft" }, `${c.role} ${c.slot}${c.turn ? ", turn " + c.turn : ""} · ${c.tokens} tokens · ${c.finish} · parsed ${c.tier} · advantage ${shortNumber(c.advantage)}`), el("pre", {}, c.text))),
      (e.calls || []).length ? null : el("p", { className: "call soft" }, "The calls of this iteration were not kept (see log-calls).")))];
}

async function gridPage() {
  const { runs } = await get("/api/runs");
  const rows = [];
  for (const r of runs) {
    const { evaluations } = await get("/api/runs/" + encodeURIComponent(r.id));
    const held = evaluations.filter(e => e.split === "held" && e.temperature !== 0).sort((a, b) => a.iteration - b.iteration);
    if (!held.length) continue;
    const acc = held.map(e => e.accuracy), last = acc[acc.length - 1];
    rows.push([el("a", { href: "#/run/" + encodeURIComponent(r.id) }, runName(r)), { n: percent(acc[0]) }, { n: percent(last) }, { n: ((last - acc[0]) * 100).toFixed(1) },
      { n: percent(Math.max(...acc)) }, { n: percent(Math.min(...acc.slice(acc.indexOf(Math.max(...acc))))) }]);
  }
  return [el("h1", {}, "Grid"), rows.length ? table(["cell", "base", "final", "gain (points)", "ceiling", "floor after it"], rows) : el("p", {}, "No evaluated run yet.")];
}

async function comparePage(a, b) {
  const { runs } = await get("/api/runs");
  const choice = (chosen, label) => {
    const s = el("select", {}, ...runs.map(r => el("option", { value: r.id, selected: r.id === chosen }, `${runName(r)} (${r.id.slice(0, 8)})`)));
    return [s, el("label", {}, label, s)];
  };
  const [sa, la] = choice(a, "First run"), [sb, lb] = choice(b, "Second run");
  const form = el("form", { onsubmit: e => { e.preventDefault(); location.hash = `#/compare/${encodeURIComponent(sa.value)}/${encodeURIComponent(sb.value)}`; } }, la, lb, el("button", {}, "Compare"));
  if (!a || !b) return [el("h1", {}, "Compare two runs"), runs.length ? form : el("p", {}, "No runs yet.")];
  const by = new Map();
  for (const [id, name] of [[a, "first"], [b, "second"]]) {
    const { metrics } = await get("/api/runs/" + encodeURIComponent(id) + "/metrics");
    for (const m of metrics) {
      if (m.slot !== undefined) continue;
      const key = m.metric + (m.role ? ", " + m.role : "");
      if (!by.has(key)) by.set(key, { first: [], second: [] });
      by.get(key)[name].push([m.iteration, m.value]);
    }
  }
  return [el("h1", {}, "Compare two runs"), form, el("div", { className: "charts" },
    ...[...by].map(([key, s]) => chart(key, [{ name: "first", points: s.first }, { name: "second", points: s.second }])))];
}

async function route() {
  clearTimeout(timer);
  const mine = ++drawn, parts = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const page = parts[0] === "run" && parts[2] === "episodes" ? episodesPage(parts[1], parts[3])
    : parts[0] === "run" ? runPage(parts[1]) : parts[0] === "grid" ? gridPage() : parts[0] === "compare" ? comparePage(parts[1], parts[2]) : runsPage();
  try {
    const nodes = await page;
    if (mine !== drawn) return;
    main.replaceChildren(...nodes.filter(n => n));
    stateLine.textContent = "";
  } catch (e) {
    if (mine !== drawn) return;
    stateLine.textContent = e.message;
    if (!main.querySelector("form")) main.replaceChildren(el("p", { className: "bad" }, e.message));
  }
  document.body.dataset.ready = String(mine);
}

addEventListener("hashchange", () => { route(); main.focus(); });
route();
