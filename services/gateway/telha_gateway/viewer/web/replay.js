/** What making the plan anew gave: in words, and where it differs in tables. */

import { differenceView } from "./difference.js";
import { h, show } from "./elements.js";
import { line, visible } from "./foreign.js";
import { counted } from "./format.js";
import { icon, instant, waiting } from "./parts.js";
import { key, refusal } from "./words.js";

const SAME = "M1.5 6.5 4.5 9.5 10.5 2.5";
const OTHER = "M1 4h9L7.5 1.5M11 8H2l2.5 2.5";

/** An element that follows a replay: `wait()`, `say(result)`, `fail(error)`. */
export function replayPanel() {
  const element = h("section", { class: "replay", "aria-label": "Replay", role: "status" });
  return {
    element,
    wait: () => show(element, waiting("Making the plan anew, as of its instants…")),
    fail: (error, recorded) => show(element, refused(error, recorded)),
    say: (result, recorded) => show(element, said(result, recorded)),
  };
}

function said(result, recorded) {
  const outcome = key(result.outcome);
  const difference = result.difference;
  if (outcome === "identical") {
    return h("p", { class: "result good" }, icon(SAME), "Replayed: identical. Made anew as of its instants, the plan has the same hash", result.explanation ? ", so what is said below of each candidate holds." : ".");
  }
  const erased = (result.erased ?? []).map((gone) => h("li", {}, "Source ", line(gone.sourceId), " was erased ", instant(gone.erasedUs ?? gone.erased), `: ${counted(gone.spans, "recorded span")} went with it.`));
  return [
    h(
      "p",
      { class: "result bad" },
      icon(OTHER),
      outcome === "erased"
        ? "Replayed: erased. Every span of this plan has been erased since; nothing of it can be shown."
        : `Replayed: changed. Made anew, the plan is another one, so below stands what the record has: ${shown(recorded)}.`,
    ),
    erased.length > 0 && h("ul", {}, erased),
    difference && h("details", { class: "card", open: true }, h("summary", {}, "What differs"), differenceView(difference, { before: "recorded", after: "anew" })),
  ];
}

function shown(recorded) {
  return recorded ? "its candidates, as they were explained then" : "packed spans only";
}

function refused(error, recorded) {
  const [heading, advice] = refusal(error);
  return h("p", { class: "result" }, icon(OTHER), visible(`Not replayed: ${heading.toLowerCase()}. ${advice} Below stands what the record has: ${shown(recorded)}.`));
}
