// The episodes of an iteration, and one episode as a conversation.

import { el, table, right, short, hash, cellName, verdict, verdictName, decode, choice, roleColor, missing } from "./dom.js";
import { get, runPath, query } from "./data.js";
import { diff } from "./diff.js";

const PAGE = 50;
const place = (id, n, e) => hash("run", id, "episode", n, e.split, e.temperature, e.task, e.rollout);

export async function episodesPage({ parts, params }, signal) {
  const id = parts[1], base = runPath(id);
  const [{ run }, { iterations }] = await Promise.all([get(base, signal), get(base + "/iterations", signal)]);
  const crumbs = el("p", { className: "crumbs" }, el("a", { href: "#/" }, "Runs"), " / ", el("a", { href: hash("run", id) }, cellName(run)), " / ", el("span", { className: "soft" }, "episodes"));
  if (!iterations.length) return [crumbs, el("h1", {}, "Episodes"), el("div", { className: "empty" }, el("p", {}, "This run has no episodes yet."))];
  const kept = iterations.filter(i => i.calls), best = (kept.length ? kept : iterations)[(kept.length ? kept : iterations).length - 1].iteration;
  const n = parts[3] === "last" || parts[3] === undefined ? best : Number(parts[3]);
  const logged = iterations.some(i => i.iteration === n && i.calls); // evaluations within a run keep no texts
  const filter = { split: params.get("split") ?? (logged && n > 0 ? "train" : ""), verdict: params.get("verdict") || "", offset: Number(params.get("offset")) || 0 };
  const page = await get(`${base}/iterations/${n}/episodes` + query({ ...filter, limit: PAGE }), signal);
  const go = change => { location.hash = hash("run", id, "episodes", change.n ?? n) + query({ ...filter, offset: 0, ...change, n: null }, ["split"]); };
  const forms = [
    choice("Iteration", iterations.map(i => [i.iteration, `${i.iteration}: ${i.episodes} episodes${i.calls ? "" : ", no texts"}`]), n, v => go({ n: v })),
    choice("Split", [["", "all"], ["train", "train"], ["probe", "probe"], ["held", "held"]], filter.split, v => go({ split: v })),
    choice("Verdict", [["", "all"], ...["AC", "WA", "RE", "TLE", "MLE", "OLE", "CE", "NA", "IE"].map(c => [c, `${c}: ${verdictName(c)}`])], filter.verdict, v => go({ verdict: v }))];
  const last = e => { const c = e.calls || []; return c.length ? c[c.length - 1].text.replace(/\s+/g, " ").slice(0, 80) : "texts not kept"; };
  return [crumbs, el("h1", {}, `Episodes of iteration ${n}`),
    el("form", { className: "tools", onsubmit: e => e.preventDefault() }, forms.map(f => f.label), el("p", { className: "soft", role: "status" }, `${page.total} episodes`)),
    page.episodes.length ? table("Episodes", ["task", "verdict", "reward", "rollout", "split", "calls", "last words"], page.episodes.map(e => [
      el("a", { href: place(id, n, e) }, e.task), verdict(e.verdict), right(missing(e.reward) ? "none" : short(e.reward)), right(String(e.rollout)), e.split,
      right(String((e.calls || []).length)), el("code", { className: "words" }, last(e))]), { wide: ["last words"] }) : el("div", { className: "empty" }, el("p", {}, "No episode fits.")),
    pager(page, filter.offset, go)];
}

function pager(page, offset, go) {
  if (page.total <= PAGE) return null;
  const button = (text, to, on) => el("button", { type: "button", disabled: !on, onclick: () => go({ offset: to }) }, text);
  return el("nav", { className: "tools", "aria-label": "Pages of episodes" }, button("← before", Math.max(0, offset - PAGE), offset > 0),
    el("span", { className: "soft" }, `${offset + 1} to ${Math.min(offset + PAGE, page.total)} of ${page.total}`), button("after →", offset + PAGE, offset + PAGE < page.total));
}

export async function episodePage({ parts }, signal) {
  const [, id, , n, split, temperature, task, rollout] = parts;
  const [{ run }, found] = await Promise.all([get(runPath(id), signal), get(`${runPath(id)}/iterations/${n}/episode` + query({ split, temperature, task, rollout }), signal)]);
  const { episode: e, task: t, verdicts } = found, calls = e.calls || [];
  const whole = verdicts.find(v => !v.role), of = c => verdicts.find(v => v.role === c.role && v.slot === c.slot && v.turn === c.turn);
  return [
    el("p", { className: "crumbs" }, el("a", { href: "#/" }, "Runs"), " / ", el("a", { href: hash("run", id) }, cellName(run)), " / ", el("a", { href: hash("run", id, "episodes", n) }, `iteration ${n}`)),
    el("div", { className: "heading" }, el("h1", {}, "Episode"), verdict(e.verdict), el("span", { className: "soft" }, verdictName(e.verdict))),
    el("p", { className: "soft" }, `${t.id} · rollout ${e.rollout} · ${e.split}, ${decode(e.temperature)} · reward ${missing(e.reward) ? "none" : short(e.reward)} · ${e.kept ? "took part in the update" : "no part in an update"}`),
    el("section", { className: "task", "aria-label": "Task" }, el("h2", {}, "Task"), el("pre", {}, t.text || "The log does not have its text."), t.gold ? el("p", {}, "Right answer: ", el("code", {}, t.gold)) : null),
    el("h2", {}, "Conversation"),
    calls.length ? el("ol", { className: "talk" }, calls.map(c => turn(c, of(c)))) : el("p", { className: "soft" }, "The texts of this iteration were not kept (see log-calls)."),
    el("h2", {}, "Verdict"), whole ? judged(whole) : el("p", { className: "soft" }, "No verdict is in the log.")];
}

function turn(c, v) {
  const about = [`${c.tokens} tokens`, c.finish === "length" ? "cut off" : null, c.tier === "primary" ? null : `read by ${c.tier} rule`, c.advantage ? `advantage ${short(c.advantage)}` : null].filter(Boolean).join(" · ");
  return el("li", { className: "c" + roleColor(c.role) }, el("div", { className: "who" }, el("b", {}, c.role + (c.slot ? ` ${c.slot + 1}` : "")), c.turn ? el("span", { className: "soft" }, `turn ${c.turn + 1}`) : null,
    v ? verdict(v.code) : null, el("span", { className: "soft" }, about)), el("pre", {}, c.text));
}

function judged(v) {
  const counts = v.total > 1 || v.tests.length ? `${v.passed} of ${v.total} tests passed` : "";
  const facts = [counts, v.reason, v.fuel ? `${short(v.fuel)} fuel` : "", v.cached ? "asked before in this run" : ""].filter(Boolean).join(" · ");
  return el("div", {}, el("p", {}, verdict(v.code), " ", verdictName(v.code), facts ? el("span", { className: "soft" }, " · " + facts) : null),
    strip(v), v.tests.map((t, i) => test(t, i === 0)));
}

// strip has a mark for every test. Judging stops at the first failure unless all
// tests are asked for; those behind it were not run.
function strip(v) {
  if (v.total < 2 || v.total > 200) return null;
  const by = new Map(v.tests.map(t => [t.test, t.code])), failed = Math.min(...by.keys());
  const state = i => by.get(i) || (v.code === "AC" || i < failed || v.passed + by.size === v.total ? "AC" : "");
  const mark = i => { const c = state(i); return el("li", { className: c === "AC" ? "good" : c ? "bad" : "soft" }, el("span", { className: "hidden" }, `test ${i + 1}: `), c || "–", el("span", { className: "hidden" }, c ? "" : " not run")); };
  return el("ol", { className: "strip", "aria-label": "Verdict of each test" }, Array.from({ length: v.total }, (_, i) => mark(i)));
}

function test(t, open) {
  const block = (name, text) => text ? [el("h3", {}, name), el("pre", {}, text)] : [];
  return el("details", { open }, el("summary", {}, verdict(t.code), ` test ${t.test + 1}`, el("span", { className: "soft" }, t.detail ? " · " + t.detail.slice(0, 120) : "")),
    el("div", { className: "body" }, ...block("Input", t.input), ...block("Statements", t.assert),
      ...(t.expected !== undefined ? [el("h3", {}, "Output against expected"), diff(t.expected, t.stdout)] : block("Output", t.stdout)),
      ...block("Error output", t.stderr), t.detail.length > 120 ? block("Detail", t.detail) : null));
}
