/** The budget: what the plan took of it, source by source, and the cap that no source may exceed. */

import { h } from "./elements.js";
import { line, visible } from "./foreign.js";
import { counted, percent, short, whole } from "./format.js";
import { bySource } from "./model.js";

const SHOWN = 8;
const TONES = 6;

/**
 * The card.
 *
 * @param {object} facts As `model.read` gives them.
 * @param {object[]} rows Of which the packed ones count.
 * @param {number} cap Tokens that one source may take.
 */
export function budgetCard(facts, rows, cap) {
  const sources = bySource(rows, facts.overhead);
  const shown = sources.length > SHOWN ? sources.slice(0, SHOWN - 1) : sources;
  const rest = sources.slice(shown.length);
  const bars = shown.map((source, at) => ({ ...source, tone: at % TONES, name: nameOf(source) }));
  if (rest.length) {
    const used = rest.reduce((sum, source) => sum + source.used, 0);
    const spans = rest.reduce((sum, source) => sum + source.spans, 0);
    bars.push({ used, spans, tone: "rest", name: counted(rest.length, "more source"), many: true });
  }
  const capped = cap < facts.applied;
  return h(
    "section",
    { class: "card budget", "aria-label": "Budget" },
    h("h2", {}, "Budget"),
    h(
      "p",
      { class: "figure" },
      h("span", { class: "big" }, whole(facts.used)),
      ` of ${whole(facts.applied)} tokens used `,
      h("span", { class: "soft" }, percent(facts.used / facts.applied)),
    ),
    h(
      "div",
      { class: "stack", role: "img", "aria-label": spoken(facts, bars) },
      bars.map((each) =>
        h("span", { class: `tone tone-${each.tone}`, css: { width: wide(each.used, facts.applied) } }),
      ),
    ),
    bars.length > 0
      ? h(
          "ol",
          { class: `sources${capped ? " capped" : ""}`, css: { "--cap": wide(cap, facts.applied) } },
          bars.map((each) => sourceBar(each, facts, cap)),
        )
      : h("p", { class: "soft" }, "No span was packed."),
    capped &&
      bars.length > 0 &&
      h(
        "p",
        { class: "small soft capline" },
        `No source may take more than ${whole(cap)} tokens (${percent(facts.share)} of the budget): the dashed line.`,
      ),
    facts.requested !== facts.applied &&
      h(
        "p",
        { class: "small soft" },
        `${whole(facts.requested)} tokens were asked for; ${whole(facts.applied)} were applied.`,
      ),
    facts.stranded > 0 && stranded(facts, rows, cap),
  );
}

function sourceBar(each, facts, cap) {
  const full = !each.many && each.used >= cap * 0.98;
  return h(
    "li",
    { class: each.many ? "many" : "" },
    h(
      "span",
      { class: "label" },
      h("span", { class: `swatch tone-${each.tone}`, "aria-hidden": "true" }),
      h("span", { class: "clipped" }, each.name),
    ),
    h(
      "span",
      { class: "amount" },
      whole(each.used),
      h("span", { class: "soft" }, ` · ${counted(each.spans, "span")}${full ? " · at the cap" : ""}`),
    ),
    h(
      "span",
      { class: "track", "aria-hidden": "true" },
      h("span", { class: `tone-${each.tone}`, css: { width: wide(each.used, facts.applied) } }),
    ),
  );
}

/** Why tokens were left while something that fits was refused. */
function stranded(facts, rows, cap) {
  const blocked = rows.filter(
    (row) => row.outcome === "sourcecap" && row.tokens + facts.overhead <= facts.applied - facts.used,
  );
  const sources = new Set(blocked.map((row) => row.place.sourceId)).size;
  return h(
    "div",
    { class: "aside" },
    h("h3", {}, `${whole(facts.stranded)} tokens stranded by the cap`),
    h(
      "p",
      {},
      "They stayed empty although a candidate would have fitted: ",
      `its source had already taken its share of ${whole(cap)} tokens. `,
      blocked.length > 0 && `${counted(blocked.length, "span")} of ${counted(sources, "source")} would still fit. `,
      "A larger ",
      h("code", {}, "maxFracPerSource"),
      " lets one source take more; sources that say something else would fill the room as well.",
    ),
  );
}

function spoken(facts, bars) {
  const each = bars.map(
    (source) => `${source.many ? source.name : (source.name.textContent ?? source.name)}: ${whole(source.used)}`,
  );
  return visible(`${whole(facts.used)} of ${whole(facts.applied)} tokens. ${each.join("; ")}`);
}

function nameOf({ name, sourceId }) {
  return name ? line(name, { title: visible(name) }) : h("span", {}, `source ${short(sourceId)}`);
}

function wide(part, whole_) {
  return `${whole_ ? Math.min(100, (part / whole_) * 100) : 0}%`;
}
