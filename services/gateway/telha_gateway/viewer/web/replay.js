/** What making the plan anew gave: in words, and where it differs in tables. */

import { differenceView } from "./difference.js";
import { h, show } from "./elements.js";
import { line, visible } from "./foreign.js";
import { counted } from "./format.js";
import { icon, instant } from "./parts.js";
import { INPUTS, key, refusal } from "./words.js";

const SAME = "M1.5 6.5 4.5 9.5 10.5 2.5";
const OTHER = "M1 4h9L7.5 1.5M11 8H2l2.5 2.5";

/** An element that follows a replay: `wait()`, `say(result, recorded)`, `fail(error, recorded)`. */
export function replayPanel() {
  // What is said at once stands apart from the tables, which nobody wants read out whole.
  const said = h("div", { role: "status", "aria-label": "Replay" });
  const more = h("div");
  const tell = (words, ...tables) => {
    show(said, words);
    show(more, tables);
  };
  return {
    element: h("section", { class: "replay" }, said, more),
    wait: () => tell(h("p", { class: "waiting" }, "Making the plan anew, as of its instants…")),
    fail: (error, recorded) => tell(refused(error, recorded)),
    say: (result, recorded) => tell(inWords(result, recorded), tables(result)),
  };
}

/** *recorded*: the record itself holds all candidates. */
function inWords({ outcome: word, explanation, difference, erased = [] }, recorded) {
  const outcome = key(word);
  if (outcome === "identical") {
    const same = "Replayed: identical. Made anew as of its instants, the plan has the same hash";
    const holds = explanation ? ", so what is said below of each candidate holds." : ".";
    return h("p", { class: "result good" }, icon(SAME), same, holds);
  }
  const causes = (difference?.changes ?? []).map(({ input }) => INPUTS[key(input)] ?? visible(input));
  const gone = erased.map(({ sourceId, erased: at, spans }) =>
    h(
      "li",
      {},
      "Source ",
      line(sourceId),
      " was erased ",
      instant(at),
      `: ${counted(spans, "recorded span")} went with it.`,
    ),
  );
  return [
    h(
      "p",
      { class: "result bad" },
      icon(OTHER),
      outcome === "erased"
        ? "Replayed: erased. Every span of this plan has been erased since; nothing of it can be shown."
        : `Replayed: changed. Made anew, the plan is another one, so below stands what the record has: ${shown(recorded)}.`,
      causes.length > 0 && ` What differs: ${causes.join(", ")}.`,
    ),
    gone.length > 0 && h("ul", {}, gone),
  ];
}

function tables({ outcome, difference }) {
  if (key(outcome) === "identical" || !difference) return null;
  const names = { before: "recorded", after: "anew" };
  const name = h("summary", {}, "What differs");
  return h("details", { class: "card", open: true }, name, differenceView(difference, names));
}

function shown(recorded) {
  return recorded ? "its candidates, as they were explained then" : "packed spans only";
}

function refused(error, recorded) {
  const [heading, advice] = refusal(error);
  return h(
    "p",
    { class: "result" },
    icon(OTHER),
    visible(`Not replayed: ${heading.toLowerCase()}. ${advice} Below stands what the record has: ${shown(recorded)}.`),
  );
}
