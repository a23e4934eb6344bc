// The dashboard: a page for each hash route, drawn from the JSON API.

import { el } from "./dom.js";
import { NeedsToken } from "./data.js";
import { runsPage } from "./runs.js";
import { runPage } from "./run.js";
import { gridPage } from "./grid.js";
import { episodesPage, episodePage } from "./episodes.js";
import { comparePage } from "./compare.js";

const main = document.getElementById("main"), line = document.getElementById("status");
let current = null;

function page(parts) {
  if (parts[0] === "run" && parts[2] === "episodes") return episodesPage;
  if (parts[0] === "run" && parts[2] === "episode") return episodePage;
  return { run: runPage, grid: gridPage, compare: comparePage }[parts[0]] || runsPage;
}

function askToken() {
  const input = el("input", { type: "password", autocomplete: "off", required: true });
  const use = e => { e.preventDefault(); sessionStorage.setItem("token", input.value); show(); };
  main.replaceChildren(el("h1", {}, "Token"), el("p", {}, "This server shows its runs to those who have its token."),
    el("form", { className: "tools", onsubmit: use }, el("label", {}, "Token", input), el("button", {}, "Use it")));
  input.focus();
}

// show draws the page of the address; a page drawn before is told to stop.
async function show(moved) {
  if (current) current.abort();
  const mine = current = new AbortController();
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const address = { parts: path.split("/").map(decodeURIComponent), params: new URLSearchParams(search || "") };
  const status = text => { if (mine === current && line.textContent !== text) { line.textContent = text; line.className = text === "live" ? "live" : ""; } };
  document.querySelectorAll("nav a").forEach(a => {
    const here = a.getAttribute("href").replace(/^#\//, "") === (address.parts[0] === "run" ? "" : address.parts[0]);
    if (here) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  });
  status("");
  try {
    const nodes = (await page(address.parts)(address, mine.signal, status)).filter(Boolean);
    if (mine !== current) return;
    main.replaceChildren(...nodes);
    const title = main.querySelector("h1");
    document.title = (title ? title.textContent + " · " : "") + "Troupe";
    performance.mark("drawn");
    if (moved) { scrollTo(0, 0); main.focus({ preventScroll: true }); }
  } catch (e) {
    if (mine !== current || mine.signal.aborted) return;
    if (e instanceof NeedsToken) askToken(); else main.replaceChildren(el("h1", {}, "That did not work"), el("p", { className: "bad", role: "alert" }, e.message));
  }
  document.body.dataset.drawn = location.hash || "#/";
}

addEventListener("hashchange", () => show(true));
show(false);
