// The difference of two texts, line by line.

import { el } from "./dom.js";

const MOST = 400; // lines of each text that are compared

// lines pairs up two lists of lines by their longest common subsequence.
export function lines(a, b) {
  const n = a.length, m = b.length, common = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) {
    common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  }
  const out = [];
  let i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && a[i] === b[j]) { out.push(["same", a[i]]); i++; j++; }
    else if (i < n && (j === m || common[i + 1][j] >= common[i][j + 1])) out.push(["expected", a[i++]]);
    else out.push(["printed", b[j++]]);
  }
  return out;
}

const split = text => text === "" ? [] : text.replace(/\n$/, "").split("\n");
const SIGN = { same: " ", expected: "−", printed: "+" };

// diff shows what was expected and what was printed instead.
export function diff(expected, printed) {
  const a = split(expected), b = split(printed), cut = a.length > MOST || b.length > MOST;
  const rows = lines(a.slice(0, MOST), b.slice(0, MOST)).map(([kind, text]) =>
    el(kind === "expected" ? "del" : kind === "printed" ? "ins" : "span", { className: "diff-line " + kind },
      el("span", { className: "sign", "aria-hidden": "true" }, SIGN[kind]), el("span", { className: "hidden" }, kind === "same" ? "" : kind + ": "), text || " ", "\n"));
  return el("div", { className: "diff" },
    el("p", { className: "soft" }, el("span", { className: "expected" }, "− expected"), "  ", el("span", { className: "printed" }, "+ printed"), b.length ? "" : " (nothing)", cut ? ` · the first ${MOST} lines` : ""),
    el("pre", {}, rows));
}
