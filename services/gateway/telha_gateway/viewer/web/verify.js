/** The plan hash, and the button that recomputes it here, from the record alone. */

import { h } from "./elements.js";
import { counted } from "./format.js";
import { visible } from "./foreign.js";
import { announce, button, icon } from "./parts.js";
import { planHash, planOf } from "./planhash.js";

const RIGHT = "M1.5 6.5 4.5 9.5 10.5 2.5";
const WRONG = "M2 2l8 8M10 2l-8 8";

/** Shows the hash of the trace with *facts*. */
export function verifyBox(facts) {
  if (!facts.hash) {
    const why =
      facts.error === "INSUFFICIENT_EVIDENCE"
        ? "No evidence was found, so there is no plan and no hash."
        : "This call made no plan, so there is no hash.";
    return h("p", { class: "proof soft" }, why);
  }
  const result = h("p", { class: "result", role: "status" });
  function verify() {
    let text;
    let right = false;
    try {
      const plan = planOf(facts.record);
      const found = planHash(plan);
      right = found === facts.hash;
      text = right
        ? `Verified: recomputed in this browser from ${counted(plan.spans.length, "span")} of the record, and equal.`
        : `Not equal: this browser computes ${found} from the record.`;
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError)) throw error;
      text = `Cannot be recomputed: ${error.message}.`;
    }
    result.className = `result ${right ? "good" : "bad"}`;
    result.replaceChildren(icon(right ? RIGHT : WRONG), visible(text));
    announce(text);
  }
  return h(
    "div",
    { class: "proof" },
    h("span", { class: "soft" }, "Plan hash "),
    h("code", { class: "breaks" }, visible(facts.hash)),
    button("Verify", verify, { "aria-label": "Verify the plan hash" }),
    result,
  );
}
