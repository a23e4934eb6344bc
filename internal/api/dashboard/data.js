// What the pages ask of the server.

import { roleColor } from "./dom.js";

export class NeedsToken extends Error {}

function headers() {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: "Bearer " + token } : {};
}

export async function get(path, signal) {
  const r = await fetch(path, { headers: headers(), signal });
  if (r.status === 401) throw new NeedsToken("this server asks for a token");
  const body = await r.json();
  if (!r.ok) throw new Error(body.error || r.statusText);
  return body;
}

export const runPath = id => "/api/runs/" + encodeURIComponent(id);

// query writes parameters; empty ones are left out but for those named in keep.
export function query(params, keep = []) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(params)) {
    for (const x of [v].flat()) if (x !== null && x !== undefined && (x !== "" || keep.includes(k))) q.append(k, x);
  }
  const text = q.toString();
  return text ? "?" + text : "";
}

// GROUPS are the curves of a run in the order in which a person looks at them.
// alarms names the kinds of events that belong to a curve.
export const GROUPS = [
  { metric: "critic/rewards/mean", title: "Reward", note: "mean of training answers", alarms: ["reward", "reward_zero"], percent: true },
  { metric: "actor/grad_norm", title: "Gradient norm", note: "by role, before clipping", alarms: ["gradient", "nonfinite"] },
  { metric: "actor/ppl_base", title: "Perplexity under the base", note: "how the untrained model sees the replies", alarms: ["ppl_base"] },
  { metric: "actor/ppl_self", title: "Perplexity", note: "under the policy itself", alarms: [] },
  { metric: "actor/entropy", title: "Entropy", note: "nats a token", alarms: ["entropy_collapse", "entropy_explosion"] },
  { metric: "actor/amplification", title: "Amplification", note: "1: the slots of a role push apart", alarms: ["amplification"] },
  { metric: "actor/mass_share", title: "Gradient mass share", note: "of a shared policy's update", alarms: [], percent: true },
  { metric: "actor/capture", title: "Role capture", note: "towards 0: reads like a solution", alarms: ["capture"] },
  { metric: "workflow/selection", title: "Selection", note: "a right candidate was picked, where they differ", alarms: [], percent: true },
  { metric: "workflow/recovery", title: "Recovery", note: "wrong first answers that ended right", alarms: [], percent: true },
  { metric: "actor/kl_base", title: "KL to the base", note: "nats a token", alarms: ["kl_base"] },
  { metric: "parse/primary", title: "Readable replies", note: "in the form that was asked for", alarms: ["unparsed"], percent: true },
  { metric: "response_length/mean", title: "Reply length", note: "tokens", alarms: [] },
  { metric: "actor/lr", title: "Learning rate", note: "of the last optimizer step", alarms: [] },
];

// follow calls on(message, data) for whatever the run's stream sends, until
// signal ends it; it comes back by itself after a break. Reading the stream by
// fetch lets it carry the token, which an EventSource can't.
export async function follow(id, after, on, signal) {
  while (!signal.aborted) {
    try {
      const r = await fetch(runPath(id) + "/stream" + query({ after }), { headers: headers(), signal });
      if (!r.ok || !r.body) throw new Error(r.statusText);
      on("open");
      await read(r.body, m => {
        if (m.id !== "") after = Number(m.id);
        on(m.event, m.data ? JSON.parse(m.data) : null);
      });
    } catch (e) {
      if (signal.aborted) return;
    }
    on("lost");
    await new Promise(done => setTimeout(done, 3000));
  }
}

async function read(body, message) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const m = { id: "", event: "message", data: "" };
      for (const line of part.split("\n")) {
        const colon = line.indexOf(":");
        if (colon <= 0) continue;
        const field = line.slice(0, colon), text = line.slice(colon + 1).replace(/^ /, "");
        if (field === "data") m.data += text; else if (field in m) m[field] = text;
      }
      if (m.data) message(m);
    }
  }
}

// Curves holds series of [x, y] by metric and role, and never more than a fixed
// number of points of each, however long one watches.
export class Curves {
  constructor() { this.by = new Map(); }

  add(metric, role, x, y) {
    if (!this.by.has(metric)) this.by.set(metric, new Map());
    const roles = this.by.get(metric);
    if (!roles.has(role)) roles.set(role, []);
    const points = roles.get(role);
    if (points.length && x <= points[points.length - 1][0]) return;
    points.push([x, y]);
    if (points.length > 600) roles.set(role, thin(points, 300));
  }

  load(series) {
    for (const s of series) {
      if (s.slot !== undefined) continue;
      for (let i = 0; i < s.iterations.length; i++) this.add(s.metric, s.role || "", s.iterations[i], s.values[i]);
    }
  }

  // of lists a metric's series, ready to be drawn, a role's always in its colour.
  of(metric) {
    return [...(this.by.get(metric) || [])].map(([role, points]) => ({ name: role, role, color: role ? roleColor(role) : 6, points })).sort((a, b) => a.color - b.color);
  }
}

// thin keeps about n points of a long series: the extremes of each stretch.
export function thin(points, n) {
  if (points.length <= n) return points;
  const out = [], stretches = n >> 1;
  for (let s = 0; s < stretches; s++) {
    const from = Math.floor(s * points.length / stretches), to = Math.floor((s + 1) * points.length / stretches);
    let lo = from, hi = from;
    for (let i = from + 1; i < to; i++) {
      if (points[i][1] < points[lo][1]) lo = i;
      if (points[i][1] > points[hi][1]) hi = i;
    }
    out.push(points[Math.min(lo, hi)]);
    if (lo !== hi) out.push(points[Math.max(lo, hi)]);
  }
  const last = points[points.length - 1];
  if (out[out.length - 1] !== last) out.push(last);
  return out;
}
