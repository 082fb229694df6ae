/** The candidates: each with what became of it and why, filtered, searched and paged. */

import { detail } from "./detail.js";
import { h, show } from "./elements.js";
import { line, visible } from "./foreign.js";
import { counted, score, short, whole } from "./format.js";
import { outcomes, placeKey } from "./model.js";
import { announce, bar, button, chip } from "./parts.js";
import { scoreBar } from "./scores.js";
import { OUTCOMES, outcomeName } from "./words.js";

/** Rows of one page: thousands at once would hold up the browser. */
const PAGE = 100;

/**
 * The card.
 *
 * @param {object[]} rows In packing order.
 * @param {{whole: boolean, leftOut: number, constants: ?object, signal: AbortSignal}} how *whole*: all candidates are known, but for
 *   *leftOut*; else the packed spans alone.
 */
export function candidatesCard(facts, rows, { whole: known, leftOut, constants, signal }) {
  const counts = outcomes(rows);
  const state = { outcome: "", search: "", page: 0 };
  const scale = logScale(rows.map((row) => row.density));
  const body = h("tbody");
  const count = h("p", { class: "soft", role: "status" });
  const pages = h("nav", { class: "paging", "aria-label": "Pages of candidates" });
  const search = h("input", { type: "search", id: "search", autocomplete: "off", "data-filter": true, placeholder: "Source or kind", on: { input: () => set({ search: search.value }) } });
  const filter = h("div", { class: "chips", role: "group", "aria-label": "Outcome" });

  function set(change) {
    Object.assign(state, { page: 0 }, change);
    draw();
  }

  function draw() {
    const found = matching(rows, state);
    const first = state.page * PAGE;
    const some = found.slice(first, first + PAGE);
    show(body, some.map((row) => candidate(row, scale, facts, { constants, signal })).flat());
    const range = found.length > PAGE ? `, ${whole(first + 1)} to ${whole(first + some.length)} shown` : "";
    count.textContent = found.length === rows.length ? counted(rows.length, "candidate") + range : `${whole(found.length)} of ${counted(rows.length, "candidate")}${range}`;
    show(filter, choices(counts, rows.length, state.outcome, (outcome) => set({ outcome })));
    show(
      pages,
      state.page > 0 && button("Previous", () => turn(-1)),
      first + PAGE < found.length && button("Next", () => turn(1)),
    );
  }

  function turn(by) {
    set({ page: state.page + by });
    announce(count.textContent);
    body.querySelector("[data-row]")?.focus();
    body.closest("section").scrollIntoView({ block: "start" });
  }

  draw();
  return h(
    "section",
    { class: "card candidates", "aria-label": "Candidates" },
    h("h2", {}, known ? "Candidates" : "Packed spans"),
    rows.length === 0
      ? h("p", { class: "soft" }, facts.error === "INSUFFICIENT_EVIDENCE" || known ? "Nothing that was found is evidence for this question: there was no candidate." : "The record holds no span.")
      : known
      ? h("p", { class: "soft" }, "By weight per token, densest first: the order in which they were packed. Open a row to see why.")
      : h("p", { class: "soft" }, "The record holds the packed spans alone."),
    leftOut > 0 && h("p", { class: "notice" }, `${counted(leftOut, "candidate")} at the end of this order were too many for one answer.`),
    rows.length > 0 && h("div", { class: "filterbar" }, filter, h("div", { class: "field" }, h("label", { for: "search" }, "Search"), search)),
    rows.length > 0 && count,
    rows.length > 0 &&
      h(
        "table",
        { class: "rows wide", "aria-label": "Candidates" },
        h("thead", {}, h("tr", {}, HEADS.map(([head, kind]) => h("th", { scope: "col", class: kind }, head)))),
        body,
      ),
    pages,
  );
}

const HEADS = [["#", "number"], ["Outcome"], ["Source"], ["Weight", "number"], ["Tokens", "number"], ["Density"], ["Score parts"]];

/** Where a density lies between the least and the greatest, by its logarithm: they differ by powers of ten. */
function logScale(densities) {
  const logs = densities.filter((density) => density > 0).map(Math.log);
  const least = logs.reduce((a, b) => Math.min(a, b), 0);
  const greatest = logs.reduce((a, b) => Math.max(a, b), least);
  return (density) => (density > 0 ? 0.04 + (0.96 * (Math.log(density) - least)) / (greatest - least || 1) : 0);
}

function matching(rows, { outcome, search }) {
  const sought = search.trim().toLocaleLowerCase();
  return rows.filter(
    (row) => (!outcome || row.outcome === outcome) && (!sought || [row.name, row.kind, row.place.sourceId].some((text) => text.toLocaleLowerCase().includes(sought))),
  );
}

function choices(counts, all, chosen, choose) {
  const known = Object.keys(OUTCOMES).filter((outcome) => counts.has(outcome));
  const others = [...counts.keys()].filter((outcome) => !(outcome in OUTCOMES));
  return [["", "All", all], ...[...known, ...others].map((outcome) => [outcome, outcomeName(outcome), counts.get(outcome)])].map(([outcome, name, count]) =>
    button([visible(name), h("span", { class: "soft" }, ` ${whole(count)}`)], () => choose(outcome), { class: "choice", "aria-pressed": String(outcome === chosen) }),
  );
}

function candidate(row, scale, facts, how) {
  const id = `why-${placeKey(row.place).replace(/[^A-Za-z0-9-]/g, "-")}`;
  const more = h("tr", { class: "more", id, hidden: true });
  const opener = button(
    row.name ? line(row.name, { class: "clipped", title: visible(row.name) }) : h("span", {}, `source ${short(row.place.sourceId)}`),
    () => {
      more.hidden = !more.hidden;
      opener.setAttribute("aria-expanded", String(!more.hidden));
      if (!more.hidden && !more.firstChild) more.append(h("td", { colspan: HEADS.length }, detail(row, facts, how)));
    },
    { class: "opener", "data-row": true, "aria-expanded": "false", "aria-controls": id },
  );
  const cell = (head, kind, ...content) => h("td", { "data-head": head, class: kind }, ...content);
  const main = h(
    "tr",
    { class: `candidate is-${row.outcome}` },
    cell("#", "number soft", row.rank ?? "–"),
    cell("Outcome", "", chip(row.outcome)),
    h("th", { scope: "row", "data-head": "Source" }, opener, h("span", { class: "soft small place" }, line(row.kind), row.class === "cache" && ", cache", ` · bytes ${whole(row.place.start)}–${whole(row.place.end)}`)),
    cell("Weight", "number", score(row.weight)),
    cell("Tokens", "number", whole(row.tokens)),
    cell("Density", "", h("span", { class: "used" }, bar(scale(row.density), row.outcome === "packed" ? "" : "pale"), h("span", { class: "number" }, score(row.density)))),
    cell("Score parts", "", scoreBar(row.explained?.score, how.constants)),
  );
  main.addEventListener("click", (event) => event.target.closest("button, a") || String(getSelection()) || opener.click());
  return [main, more];
}
