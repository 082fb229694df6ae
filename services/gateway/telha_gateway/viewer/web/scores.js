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

/**
 * What each part adds to a score before it is measured against the best node's and sharpened (docs/explain.md); the parts
 * themselves where the constants are not known.
 */
function added(parts, constants) {
  if (!constants) return parts;
  const { semanticShare: share, contextWeight, sourceWeight, speakerWeight } = constants;
  const sum = {
    semantic: share * parts.semantic,
    lexical: (1 - share) * parts.lexical,
    context: contextWeight * parts.context,
  };
  const some = sum.semantic + sum.lexical + sum.context > 0;
  return { ...sum, source: some ? sourceWeight * parts.source : 0, speaker: some ? speakerWeight * parts.speaker : 0 };
}

/** The parts as one bar, as long as they make together against the best node, their numbers as its name. */
export function scoreBar(parts, constants) {
  if (!parts) return h("span", { class: "soft" }, "–");
  if (parts.structured) return h("span", { class: "small" }, "structured");
  const sum = added(parts, constants);
  const shown = PARTS.filter(([id]) => sum[id] > 0);
  const most = constants?.greatest || shown.reduce((all, [id]) => all + sum[id], 0);
  const said = shown.map(([id, name]) => `${name} ${score(parts[id])}`).join(", ");
  const found = legsOf(parts);
  return h(
    "span",
    { class: "parts", title: said },
    h(
      "span",
      { class: "partbar", role: "img", "aria-label": said || "no part" },
      shown.map(([id]) =>
        h("span", { class: `part part-${id}`, css: { width: `${Math.min(100, (100 * sum[id]) / most)}%` } }),
      ),
    ),
    h(
      "span",
      { class: "soft small" },
      found || (parts.hops ? `${parts.hops} ${parts.hops === 1 ? "hop" : "hops"}` : ""),
    ),
  );
}

/** The parts as a list of terms and numbers. */
export function scoreList(parts, constants) {
  if (!parts) return null;
  const sum = constants && added(parts, constants);
  const rows = [
    ["S(node)", parts.score, "what the weight is made of"],
    parts.similarity !== undefined && ["Similarity", parts.similarity, "sharpened"],
    ...PARTS.map(([id, name, means]) => [name, parts[id], means, id]),
    parts.window !== undefined && ["Window", parts.window, "1 but for a window, which joins several passages"],
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
      rows
        .filter(Boolean)
        .map(([name, value, means, id]) =>
          h(
            "div",
            { title: means },
            h("dt", {}, id && h("span", { class: `swatch part-${id}`, "aria-hidden": "true" }), name),
            h(
              "dd",
              { class: "number" },
              score(value ?? 0),
              id && sum && sum[id] > 0 && h("span", { class: "soft small" }, ` adds ${score(sum[id])}`),
            ),
          ),
        ),
    ),
    constants && h("p", { class: "small soft" }, made(constants)),
    h("p", { class: "small" }, "Found by: ", foundBy(parts)),
    parts.path?.length > 0 &&
      h("p", { class: "small" }, "Path: ", h("code", { class: "breaks" }, visible(parts.path.join(" → ")))),
    h("p", { class: "small soft" }, "Node ", h("code", { class: "breaks" }, visible(parts.nodeId ?? ""))),
  );
}

function made({ greatest, sharpening, alpha }) {
  const rest = Number((1 - alpha).toPrecision(6));
  return [
    `What the parts add, times days and window, is measured against the best node’s ${score(greatest)} and raised to `,
    `the power of ${sharpening}: the similarity. `,
    `S is similarity to the power of ${alpha} × decay to the power of ${rest}.`,
  ];
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
