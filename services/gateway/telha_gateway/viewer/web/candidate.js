/** One candidate: a row of the table, and below it what it unfolds. */

import { detail } from "./detail.js";
import { h } from "./elements.js";
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

/** The two rows of *row*; *scale* as `logScale` gives it, *how* with the constants of the scores and the signal. */
export function candidate(row, scale, facts, how) {
  const id = `why-${placeKey(row.place).replace(/[^A-Za-z0-9-]/g, "-")}`;
  const more = h("tr", { class: "more", id, hidden: true });
  const opener = button(
    row.name
      ? line(row.name, { class: "clipped", title: visible(row.name) })
      : h("span", {}, `source ${short(row.place.sourceId)}`),
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
    cell("Score parts", "", scoreBar(row.explained?.score, how.constants)),
  );
  main.addEventListener(
    "click",
    (event) => event.target.closest("button, a") || String(getSelection()) || opener.click(),
  );
  return [main, more];
}
