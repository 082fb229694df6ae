/** One candidate: a row of the table, and below it what it unfolds. */

import { detail, textOf } from "./detail.js";
import { h, show } from "./elements.js";
import { line, visible } from "./foreign.js";
import { score, short, whole } from "./format.js";
import { placeKey } from "./model.js";
import { bar, button, chip } from "./parts.js";
import { scoreBar } from "./scores.js";

/** Heads of the table, with the class of their cells. */
export const HEADS = [
  ["#", "number"],
  ["Outcome"],
  ["Source"],
  ["Weight", "number"],
  ["Tokens", "number"],
  ["Density"],
  ["Score parts"],
];

/** Where a density lies between the least and the greatest, by its logarithm: they differ by powers of ten. */
export function logScale(densities) {
  const logs = densities.filter((density) => density > 0).map(Math.log);
  const least = logs.reduce((a, b) => Math.min(a, b), 0);
  const greatest = logs.reduce((a, b) => Math.max(a, b), least);
  return (density) => (density > 0 ? 0.04 + (0.96 * (Math.log(density) - least)) / (greatest - least || 1) : 0);
}

/**
 * The two rows of *row*.
 *
 * @param {function(number): number} scale As `logScale` gives it.
 * @param {{constants: ?object, open: Map<string, Node>, signal: AbortSignal}} how *open*: the texts of unfolded rows by
 *   place, so that a row that is drawn anew is as it was.
 */
export function candidate(row, scale, facts, { constants, open, signal }) {
  const key = placeKey(row.place);
  const id = `why-${key.replace(/[^A-Za-z0-9-]/g, "-")}`;
  const more = h("tr", { class: "more", id, hidden: true });
  const opener = button(
    row.name
      ? line(row.name, { class: "clipped", title: visible(row.name) })
      : h("span", {}, `source ${short(row.place.sourceId)}`),
    () => (open.has(key) ? fold() : unfold()),
    { class: "opener", "data-row": true, "aria-expanded": "false", "aria-controls": id },
  );

  function fold() {
    open.delete(key);
    more.hidden = true;
    opener.setAttribute("aria-expanded", "false");
  }

  function unfold() {
    const text = open.get(key) ?? textOf(row, facts, signal);
    open.set(key, text);
    show(more, h("td", { colspan: HEADS.length }, detail(row, facts, { constants, text })));
    more.hidden = false;
    opener.setAttribute("aria-expanded", "true");
  }

  if (open.has(key)) unfold();
  const cell = (head, kind, ...content) => h("td", { "data-head": head, class: kind }, ...content);
  const main = h(
    "tr",
    { class: `candidate is-${row.outcome}` },
    cell("#", "number soft", row.rank ?? "–"),
    cell("Outcome", "", chip(row.outcome)),
    h(
      "th",
      { scope: "row", "data-head": "Source" },
      opener,
      h(
        "span",
        { class: "soft small place" },
        line(row.kind),
        row.class === "cache" && ", cache",
        ` · bytes ${whole(row.place.start)}–${whole(row.place.end)}`,
      ),
    ),
    cell("Weight", "number", score(row.weight)),
    cell("Tokens", "number", whole(row.tokens)),
    cell(
      "Density",
      "",
      h(
        "span",
        { class: "used" },
        bar(scale(row.density), row.outcome === "packed" ? "" : "pale"),
        h("span", { class: "number" }, score(row.density)),
      ),
    ),
    cell("Score parts", "", scoreBar(row.explained?.score, constants)),
  );
  main.addEventListener(
    "click",
    (event) => event.target.closest("button, a") || String(getSelection()) || opener.click(),
  );
  return [main, more];
}
