/** How two plans differ: causes first, then spans. */

import { h } from "./elements.js";
import { line, visible } from "./foreign.js";
import { counted, score, short, whole, withMoments } from "./format.js";
import { namesOf } from "./names.js";
import { INPUTS, key, sentence } from "./words.js";

/** Rows of one table at most; copying as JSON has them all. */
const MOST = 200;

/** *difference* as REST gives it; *names* say what its two sides are. */
export function differenceView(difference, names) {
  const { identical, gone = [], reweighed = [], changes = [], unchanged = 0, because } = difference;
  const added = difference.new ?? [];
  return h(
    "div",
    { class: "difference" },
    because && h("p", { class: "strong" }, sentence(visible(because))),
    identical && !because && h("p", {}, "Both plans have one hash."),
    changes.length > 0 && changesTable(changes, names),
    gone.length > 0 && spansTable(`Only ${names.before}: ${counted(gone.length, "span")}`, gone),
    added.length > 0 && spansTable(`Only ${names.after}: ${counted(added.length, "span")}`, added),
    reweighed.length > 0 && reweighedTable(reweighed, names),
    h("p", { class: "soft" }, `${counted(unchanged, "span")} alike in both.`),
  );
}

/** *difference* with names of sources where it has none, as far as this key may read them. */
export async function named(difference, signal) {
  const { gone = [], new: added = [], reweighed = [] } = difference;
  const both = reweighed.map(({ span, after }) => ({ ...after, span }));
  const nameless = [...gone, ...added, ...both].filter((each) => !each.sourceName);
  const names = await namesOf(
    nameless.map((each) => each.span),
    signal,
  );
  const name = (each) => ({ ...each, sourceName: each.sourceName || names.get(each.span.sourceId) });
  return {
    ...difference,
    gone: gone.map(name),
    new: added.map(name),
    reweighed: reweighed.map((each) => ({ ...each, after: name({ ...each.after, span: each.span }) })),
  };
}

function changesTable(changes, names) {
  const rows = changes.map(({ input, before, after }) => {
    const known = INPUTS[key(input)] ?? visible(input);
    const shown = (side) => (key(input) === "window" && side ? withMoments(side) : side);
    return h(
      "tr",
      {},
      h("th", { scope: "row", "data-head": "Input" }, known),
      value(names.before, shown(before)),
      value(names.after, shown(after)),
    );
  });
  return table("Inputs that differ", ["Input", names.before, names.after], rows);
}

function value(head, text) {
  return h("td", { "data-head": head }, text ? line(text) : h("span", { class: "soft" }, "not kept"));
}

function spansTable(caption, spans) {
  const rows = spans.slice(0, MOST).map((each) => h("tr", {}, source(each), ...numbers(each)));
  return [table(caption, ["Source", "Kind", "Weight", "Tokens"], rows), rest(spans)];
}

function rest(spans) {
  return spans.length > MOST && h("p", { class: "soft" }, `and ${counted(spans.length - MOST, "span")} more`);
}

function reweighedTable(spans, names) {
  const rows = spans
    .slice(0, MOST)
    .map(({ span, before, after }) =>
      h(
        "tr",
        {},
        source({ ...after, sourceName: after?.sourceName || before?.sourceName, span }),
        both("Kind", visible(before.kind), visible(after.kind)),
        both("Weight", score(before.weight), score(after.weight)),
        both("Tokens", whole(before.tokens), whole(after.tokens)),
      ),
    );
  const caption = `In both, weighed anew: ${counted(spans.length, "span")} (${names.before} → ${names.after})`;
  return [table(caption, ["Source", "Kind", "Weight", "Tokens"], rows), rest(spans)];
}

function both(head, before, after) {
  return h(
    "td",
    { "data-head": head, class: head === "Kind" ? "" : "number" },
    before === after ? before : [h("span", { class: "soft" }, before), " → ", h("span", { class: "strong" }, after)],
  );
}

function source({ span, sourceName }) {
  return h(
    "th",
    { scope: "row", "data-head": "Source" },
    sourceName
      ? line(sourceName, { class: "clipped", title: visible(sourceName) })
      : h("span", { class: "soft" }, "source ", short(span.sourceId)),
    h("span", { class: "soft small place" }, `bytes ${whole(span.start)}–${whole(span.end)}`),
  );
}

function numbers(each) {
  return [
    h("td", { "data-head": "Kind" }, line(each.kind ?? ""), key(each.class) === "cache" && " (cache)"),
    h("td", { "data-head": "Weight", class: "number" }, score(each.weight ?? 0)),
    h("td", { "data-head": "Tokens", class: "number" }, whole(each.tokens ?? 0)),
  ];
}

function table(caption, heads, rows) {
  const number = new Set(["Weight", "Tokens"]);
  return h(
    "table",
    { class: "rows" },
    h("caption", {}, caption),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((head) => h("th", { scope: "col", class: number.has(head) && "number" }, head)),
      ),
    ),
    h("tbody", {}, rows),
  );
}
