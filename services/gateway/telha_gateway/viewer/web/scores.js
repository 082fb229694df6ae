/** What a score is made of: a small bar for the eye, a table for the rest. */

import { h } from "./elements.js";
import { visible } from "./foreign.js";
import { score } from "./format.js";
import { key } from "./words.js";

/** The parts, each in [0, 1] but the last two, in the order of the bar. */
const PARTS = [
  ["semantic", "Semantic", "what of it comes from the vector"],
  ["lexical", "Lexical", "what of it comes from the words"],
  ["context", "Context", "what it and the passages next to it hold together"],
  ["source", "Source", "what else of its source was found"],
  ["speaker", "Speaker", "somebody says it whom the question names"],
];
const LEG_NAMES = { structured: "structured", semantic: "semantic", lexical: "lexical" };

/** The parts as one bar, their numbers as its name. */
export function scoreBar(parts) {
  if (!parts) return h("span", { class: "soft" }, "–");
  if (parts.structured) return h("span", { class: "small" }, "structured");
  const shown = PARTS.filter(([id]) => parts[id] > 0);
  const said = shown.map(([id, name]) => `${name} ${score(parts[id])}`).join(", ");
  const found = legsOf(parts);
  return h(
    "span",
    { class: "parts", title: said },
    h("span", { class: "partbar", role: "img", "aria-label": said || "no part" }, shown.map(([id]) => h("span", { class: `part part-${id}`, css: { "flex-grow": String(parts[id]) } }))),
    h("span", { class: "soft small" }, found || (parts.hops ? `${parts.hops} ${parts.hops === 1 ? "hop" : "hops"}` : "")),
  );
}

/** The parts as a list of terms and numbers. */
export function scoreList(parts) {
  if (!parts) return null;
  const rows = [
    ["S(node)", parts.score, "what the weight is made of"],
    parts.similarity !== undefined && ["Similarity", parts.similarity, "sharpened"],
    ...PARTS.map(([id, name, means]) => [name, parts[id], means, id]),
    ["Days", parts.days, "1 where it began on the days that the question names, or none are named"],
    ["Decay", parts.decay, "of the path over which it was reached; 1 for what a leg found itself"],
    parts.evidence !== undefined && ["Evidence", parts.evidence, "strength, held against the floor"],
  ];
  return h(
    "div",
    { class: "scorelist" },
    h("h3", {}, "Score"),
    h(
      "dl",
      { class: "numbers" },
      rows.filter(Boolean).map(([name, value, means, id]) => h("div", { title: means }, h("dt", {}, id && h("span", { class: `swatch part-${id}`, "aria-hidden": "true" }), name), h("dd", { class: "number" }, score(value ?? 0)))),
    ),
    h("p", { class: "small" }, "Found by: ", foundBy(parts)),
    parts.path?.length > 0 && h("p", { class: "small" }, "Path: ", h("code", { class: "breaks" }, visible(parts.path.join(" → ")))),
    h("p", { class: "small soft" }, "Node ", h("code", { class: "breaks" }, visible(parts.nodeId ?? ""))),
  );
}

function foundBy(parts) {
  const legs = (parts.legs ?? []).map(({ leg, rank }) => `${legName(leg)}, place ${rank}`);
  if (parts.structured) return "the structured query";
  if (legs.length) return legs.join("; ");
  return parts.hops ? `${parts.hops} ${parts.hops === 1 ? "hop" : "hops"} from what a leg found` : "–";
}

function legsOf(parts) {
  return (parts.legs ?? []).map(({ leg, rank }) => `${legName(leg)} ${rank}`).join(", ");
}

function legName(leg) {
  return LEG_NAMES[key(leg)] ?? visible(leg);
}
