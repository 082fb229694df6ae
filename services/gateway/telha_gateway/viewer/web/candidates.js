/** The candidates: each with what became of it and why, filtered, searched and paged. */

import { HEADS, candidate, logScale } from "./candidate.js";
import { h, show } from "./elements.js";
import { visible } from "./foreign.js";
import { counted, whole } from "./format.js";
import { outcomes } from "./model.js";
import { announce, button } from "./parts.js";
import { OUTCOMES, outcomeName } from "./words.js";

/** Rows of one page: thousands at once would hold up the browser. */
const PAGE = 100;

/** What a person has chosen and opened: nothing yet. */
export function startingState() {
  return { outcome: "", search: "", page: 0, open: new Map() };
}

/**
 * The card.
 *
 * @param {object[]} rows In packing order.
 * @param {{whole: boolean, leftOut: number, constants: ?object, kept: object, signal: AbortSignal}} how *whole*: all
 *   candidates are known, but for *leftOut*; else the packed spans alone. *kept*: `startingState()`, carried from one
 *   drawing to the next.
 */
export function candidatesCard(facts, rows, { whole: known, leftOut, constants, kept: state, signal }) {
  const scale = logScale(rows.map((row) => row.density));
  const body = h("tbody");
  const count = h("p", { class: "soft", role: "status" });
  const pages = h("nav", { class: "paging", "aria-label": "Pages of candidates" });
  const search = h("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    "data-filter": true,
    placeholder: "Source or kind",
    value: state.search,
    on: { input: () => set({ search: search.value }) },
  });
  const choices = choicesOf(rows, (outcome) => set({ outcome }));
  const filter = h("div", { class: "chips", role: "group", "aria-label": "Outcome" }, choices);

  function set(change) {
    Object.assign(state, { page: 0 }, change);
    draw();
  }

  function draw() {
    const found = matching(rows, state);
    const first = state.page * PAGE;
    const some = found.slice(first, first + PAGE);
    show(body, some.map((row) => candidate(row, scale, facts, { constants, open: state.open, signal })).flat());
    const range = found.length > PAGE ? `, ${whole(first + 1)} to ${whole(first + some.length)} shown` : "";
    count.textContent =
      found.length === rows.length
        ? counted(rows.length, "candidate") + range
        : `${whole(found.length)} of ${counted(rows.length, "candidate")}${range}`;
    for (const each of choices) each.setAttribute("aria-pressed", String(each.dataset.outcome === state.outcome));
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
      ? h(
          "p",
          { class: "soft" },
          facts.error === "INSUFFICIENT_EVIDENCE" || known
            ? "Nothing that was found is evidence for this question: there was no candidate."
            : "The record holds no span.",
        )
      : known
        ? h(
            "p",
            { class: "soft" },
            "By weight per token, densest first: the order in which they were packed. Open a row to see why.",
          )
        : h("p", { class: "soft" }, "The record holds the packed spans alone."),
    leftOut > 0 &&
      h(
        "p",
        { class: "notice" },
        `${counted(leftOut, "candidate")} at the end of this order were too many for one answer.`,
      ),
    rows.length > 0 &&
      h(
        "div",
        { class: "filterbar" },
        filter,
        h("div", { class: "field" }, h("label", { for: "search" }, "Search"), search),
      ),
    rows.length > 0 && count,
    rows.length > 0 &&
      h(
        "table",
        { class: "rows wide", "aria-label": "Candidates" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            HEADS.map(([head, kind]) => h("th", { scope: "col", class: kind }, head)),
          ),
        ),
        body,
      ),
    pages,
  );
}

function matching(rows, { outcome, search }) {
  const sought = search.trim().toLocaleLowerCase();
  return rows.filter(
    (row) =>
      (!outcome || row.outcome === outcome) &&
      (!sought || [row.name, row.kind, row.place.sourceId].some((text) => text.toLocaleLowerCase().includes(sought))),
  );
}

/** A button for each outcome that there is, and one for all. */
function choicesOf(rows, choose) {
  const counts = outcomes(rows);
  const known = Object.keys(OUTCOMES).filter((outcome) => counts.has(outcome));
  const others = [...counts.keys()].filter((outcome) => !(outcome in OUTCOMES));
  const each = [...known, ...others].map((outcome) => [outcome, outcomeName(outcome), counts.get(outcome)]);
  return [["", "All", rows.length], ...each].map(([outcome, name, count]) =>
    button([visible(name), h("span", { class: "soft" }, ` ${whole(count)}`)], () => choose(outcome), {
      class: "choice",
      "data-outcome": outcome,
    }),
  );
}
