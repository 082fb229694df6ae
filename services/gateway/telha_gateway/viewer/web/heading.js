/** The head of a trace: the question, the instants, the proof, and what can be done with it. */

import { compareBox } from "./compare.js";
import { h } from "./elements.js";
import { line, visible } from "./foreign.js";
import { counted, rfc3339, moment } from "./format.js";
import { copyButton, button, instant, link } from "./parts.js";
import { verifyBox } from "./verify.js";

/** The head of the trace with *facts*; *answer* is what the gateway said, for copying. */
export function heading(facts, answer, { onReplay }) {
  return h(
    "header",
    { class: "head" },
    h(
      "p",
      { class: "crumb" },
      link("traces", "Traces"),
      h("span", { class: "soft", "aria-hidden": "true" }, " / "),
      h("span", { class: "tag" }, line(facts.kind)),
      " ",
      instant(facts.recorded),
    ),
    h("h1", { tabindex: "-1" }, title(facts)),
    h(
      "dl",
      { class: "facts" },
      window(facts),
      spaces(facts),
      limits(facts),
      fact("Trace", h("code", { class: "breaks" }, facts.id)),
    ),
    verifyBox(facts),
    h(
      "div",
      { class: "actions" },
      facts.hash && button("Replay", onReplay, { class: "primary" }),
      compareBox(facts.id),
      copyButton("Copy link", () => location.origin + location.pathname),
      copyButton("Copy as JSON", () => JSON.stringify(answer, null, 2)),
    ),
  );
}

function title(facts) {
  if (facts.question !== null) return line(facts.question);
  if (facts.kind === "select") return "A selection from a pool of the caller’s own";
  if (facts.query) return "A structured query";
  return ["A call of kind ", line(facts.kind)];
}

function window({ window: read }) {
  if (!read) return null;
  return [
    fact(
      "True on",
      h("time", { datetime: rfc3339(read.validTime), title: rfc3339(read.validTime) }, moment(read.validTime)),
    ),
    fact(
      "As we knew it on",
      h("time", { datetime: rfc3339(read.txTime), title: rfc3339(read.txTime) }, moment(read.txTime)),
    ),
  ];
}

function spaces({ spaces: names }) {
  if (!names?.length) return null;
  const shown = names[0] === "*" ? "every space" : names.flatMap((name, at) => [at ? ", " : "", line(name)]);
  return fact(names.length === 1 ? "Space" : "Spaces", shown);
}

function limits(facts) {
  const tokenizer = facts.estimate ? "estimated" : facts.tokenizer;
  return [
    tokenizer && fact("Tokens counted by", visible(tokenizer)),
    facts.maxSpans > 0 && fact("At most", counted(facts.maxSpans, "span")),
  ];
}

function fact(name, ...content) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, ...content));
}
