/** Why one candidate is in the plan or out of it, with its numbers and, on demand, its text. */

import { because } from "./because.js";
import { h } from "./elements.js";
import { line, visible } from "./foreign.js";
import { moment, rfc3339, score, whole } from "./format.js";
import { placeKey } from "./model.js";
import { scoreList } from "./scores.js";
import { textBox } from "./text.js";
import { OUTCOMES, sentence } from "./words.js";

/** The text of *row* on demand, where there is one to be had. */
export function textOf(row, facts, signal) {
  return facts.kind === "select"
    ? h("p", { class: "soft" }, "Its text was the caller’s own and is not kept.")
    : textBox(row.place, signal);
}

/** What a row unfolds; *text* as `textOf` gave it. */
export function detail(row, facts, { constants, text }) {
  const span = row.explained;
  const told = span && (span.because || because(row, facts));
  return h(
    "div",
    { class: "detail" },
    h(
      "p",
      { class: "because" },
      sentence(visible(told || OUTCOMES[row.outcome]?.means || "This page does not know that outcome.")),
    ),
    h(
      "div",
      { class: "columns" },
      h("div", {}, h("h3", {}, "Packing"), h("dl", { class: "numbers" }, packing(row, facts))),
      scoreList(span?.score, constants),
      h("div", {}, h("h3", {}, "Place"), h("dl", { class: "numbers" }, place(row))),
    ),
    text,
  );
}

function packing(row, facts) {
  const span = row.explained;
  return [
    entry("Weight", score(row.weight)),
    span?.kindPrior !== undefined && entry("Kind prior", score(span.kindPrior)),
    (span?.cacheDiscount ?? 1) !== 1 && entry("Cache discount", score(span.cacheDiscount)),
    entry("Tokens", whole(row.tokens)),
    facts.overhead > 0 && entry("Overhead", whole(facts.overhead)),
    entry("Density", score(row.density)),
    row.rank && entry("Rank", whole(row.rank)),
    row.rank && entry("Budget left then", whole(span.budgetLeft)),
    row.rank && entry("Source had taken", whole(span.sourceSpent)),
    span?.duplicate && entry("Repeats", `bytes ${whole(span.duplicate.of.start)}–${whole(span.duplicate.of.end)}`),
    span?.duplicate && entry("Overlap", score(span.duplicate.overlap)),
  ].filter(Boolean);
}

function place(row) {
  const { sourceId, sourceVersionTx: version, start, end } = row.place;
  return [
    row.name && entry("Source", line(row.name, { class: "breaks" })),
    entry("Version", h("time", { datetime: rfc3339(version), title: rfc3339(version) }, moment(version))),
    entry("Bytes", `${whole(start)}–${whole(end)}`),
    entry("Kind", line(row.kind)),
    entry("Class", visible(row.class)),
    entry("Id", h("code", { class: "breaks", title: placeKey(row.place) }, visible(sourceId))),
  ].filter(Boolean);
}

function entry(name, value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value));
}
