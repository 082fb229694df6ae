/**
 * One trace: what was asked, what was decided, and why each candidate is in the plan or out of it.
 *
 * The record alone gives the packed spans. The rest comes from making the plan anew as of the trace's instants: if that
 * gives the recorded hash, its explanation holds for the trace; if not, the page says so and shows packed spans only.
 */

import { replay, trace } from "./api.js";
import { budgetCard } from "./budget.js";
import { candidatesCard } from "./candidates.js";
import { h, show } from "./elements.js";
import { flowCard } from "./flow.js";
import { heading } from "./heading.js";
import { explainedRows, read } from "./model.js";
import { nameSources } from "./names.js";
import { announce, waiting } from "./parts.js";
import { replayPanel } from "./replay.js";
import { visible } from "./foreign.js";
import { key } from "./words.js";
import { whyNotCard } from "./whynot.js";

/** Draws the trace of *place*. */
export async function traceView(parent, place, { signal, arrive }) {
  delete parent.dataset.title;
  show(parent, h("h1", {}, "Trace"), waiting("Reading the trace…"));
  const answer = await trace(place.id, signal);
  if (signal.aborted) return;
  const facts = read(answer);
  const panel = replayPanel({ again: () => explain() });
  const slots = { budget: h("div"), flow: h("div"), candidates: h("div") };
  parent.dataset.title = visible(facts.question ?? `${facts.kind} ${facts.id}`);
  show(
    parent,
    heading(facts, answer, { onReplay: () => explain(), onCompare: place }),
    panel.element,
    h("div", { class: "pair" }, slots.budget, slots.flow),
    facts.hash && facts.kind !== "select" && whyNotCard(facts, signal),
    slots.candidates,
  );
  draw(facts.packed, null);
  arrive();
  if (facts.hash) await explain(false);

  function draw(rows, explanation) {
    const cap = Number(explanation?.sourceCap ?? facts.cap);
    show(slots.budget, budgetCard(facts, rows, cap));
    show(slots.flow, flowCard(facts));
    show(slots.candidates, candidatesCard(facts, rows, explanation, signal));
  }

  async function explain(asked = true) {
    panel.wait();
    try {
      const result = await replay(facts.id, { explain: true }, signal);
      if (signal.aborted) return;
      panel.say(result);
      const explanation = result.explanation;
      if (key(result.outcome, "REPLAY_OUTCOME_") === "identical" && explanation?.spans?.length) {
        draw(explainedRows(explanation), explanation);
      } else {
        await name();
      }
      if (asked) announce(panel.element.textContent);
    } catch (error) {
      if (signal.aborted) return;
      panel.fail(error);
      await name();
    }
  }

  /** The record holds no names of sources; memory may still know them. */
  async function name() {
    const named = await nameSources(facts.packed, signal);
    if (!signal.aborted) draw(named, null);
  }
}
