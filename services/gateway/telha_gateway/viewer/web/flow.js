/** From what the legs found to what was packed: each step with what it left out. */

import { h } from "./elements.js";
import { score, whole } from "./format.js";
import { LEGS, OUTCOMES } from "./words.js";
import { visible } from "./foreign.js";

/** The card; of Select, which recalls nothing, without legs. */
export function flowCard({ stats, recall: told, kind }) {
  const recall = kind === "select" ? null : told;
  const name = recall ? "From legs to plan" : "From pool to plan";
  const pool = Number(stats.poolSpans ?? 0);
  const deduped = Number(stats.deduped ?? 0);
  const packed = Number(stats.selectedSpans ?? 0);
  const most = Math.max(1, pool, Number(recall?.nodes ?? 0));
  const steps = [
    recall && step("Nodes", Number(recall.nodes ?? 0), most, fromNodes(recall)),
    step("Candidates", pool, most, recall ? fromSpans(recall) : []),
    step("After deduplication", pool - deduped, most, [out(deduped, "duplicate")]),
    step("Packed", packed, most, [
      out(stats.capSkipped, "sourcecap"),
      out(stats.budgetSkipped, "budget"),
      out(stats.spanLimitSkipped, "spanlimit"),
      out(stats.unpackable, "unpackable"),
    ]),
  ];
  return h(
    "section",
    { class: "card flow", "aria-label": name },
    h("h2", {}, name),
    recall?.legs && legs(recall),
    recall?.vectorLegSkipped &&
      h("p", { class: "small soft" }, `The semantic leg was skipped: ${visible(recall.vectorLegSkipped)}.`),
    evidence(recall),
    h("ol", { class: "steps" }, steps),
    stats.weightUpperBound > 0 && optimum(stats),
  );
}

function legs(recall) {
  return h(
    "ul",
    { class: "legs", "aria-label": "Legs" },
    LEGS.map(([id, name, does]) => {
      const skipped = id === "vector" && recall.vectorLegSkipped;
      return h(
        "li",
        { class: recall.legs[id] ? "" : "none", title: does },
        h("span", { class: "big" }, skipped ? "–" : whole(recall.legs[id] ?? 0)),
        h("span", {}, name),
      );
    }),
  );
}

function fromNodes(recall) {
  const floor = Number(recall.minSimilarity ?? 0);
  return [
    lost(recall.belowFloor, `below the floor of evidence, ${floor}`),
    lost(recall.poolCapped, "beyond the cap of the pool"),
    lost(recall.nodesWithoutSpans, "rest on no span"),
    beside(recall.zeroScore, "more scored 0"),
  ];
}

function evidence(recall) {
  const best = recall?.bestEvidence;
  if (best === undefined || best === null) return null;
  return h(
    "p",
    { class: "small soft" },
    `The strongest evidence found is ${score(best)}; below ${Number(recall.minSimilarity)} nothing counts.`,
  );
}

function fromSpans(recall) {
  return [
    beside(recall.excluded, "given before, and so left out"),
    lost(recall.slicesMissing, "texts that could not be cut"),
  ];
}

/** "12 …" as what a step left out; nothing for 0. */
function lost(count, words) {
  return Number(count ?? 0) > 0 && [`${whole(count)} ${words}`];
}

/** The same for candidates of one outcome, in the words of the table below. */
function out(count, outcome) {
  const { name, means } = OUTCOMES[outcome];
  return Number(count ?? 0) > 0 && [`${whole(count)} ${name.toLowerCase()}`, { title: means }];
}

/** "12 …" as what the step does not count, and so is not to be taken off. */
function beside(count, words) {
  return Number(count ?? 0) > 0 && [`${whole(count)} ${words}`, { class: "beside" }];
}

function step(name, count, most, notes) {
  const said = notes.filter(Boolean).map(([text, given = {}]) => h("li", given, text));
  return h(
    "li",
    {},
    h("span", { class: "name" }, name),
    h("span", { class: "count big" }, whole(count)),
    h("span", { class: "track", "aria-hidden": "true" }, h("span", { css: { width: `${(count / most) * 100}%` } })),
    said.length > 0 && h("ul", { class: "notes" }, said),
  );
}

function optimum(stats) {
  const share = Number(stats.weightShare);
  return h(
    "p",
    { class: "small soft" },
    `The packed spans weigh ${score(stats.packedWeight)}. No choice under this budget and cap weighs more than `,
    `${score(stats.weightUpperBound)}: `,
    h("span", { class: "strong" }, `${(Math.floor(share * 1000) / 10).toFixed(1)}%`),
    " of that bound is reached.",
  );
}
