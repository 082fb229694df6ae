/**
 * One trace: what was asked, what was decided, and why each candidate is in the plan or out of it.
 *
 * The record alone gives the packed spans, and all candidates where the call asked for an explanation. The rest comes
 * from making the plan anew as of the trace's instants: if that gives the recorded hash, its explanation holds for the
 * trace; if not, the page says so and shows what the record has.
 */

import { Refusal, replay, trace } from "./api.js";
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

const REPLAYED = new Set(["plan", "context", "select"]);

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
    heading(facts, answer, { onReplay: () => explain() }),
    panel.element,
    h("div", { class: "pair" }, slots.budget, slots.flow),
    REPLAYED.has(facts.kind) && whyNotCard(facts, signal),
    slots.candidates,
  );
  draw(facts.candidates ?? facts.packed, { whole: facts.candidates !== null, leftOut: facts.leftOut });
  arrive();
  if (REPLAYED.has(facts.kind)) await explain(false);
  else await name();

  /** *whole*: rows are all candidates, but for *leftOut*; else the packed ones alone. */
  function draw(rows, { whole, leftOut = 0 }) {
    show(slots.budget, budgetCard(facts, rows, facts.cap));
    show(slots.flow, flowCard(facts));
    show(slots.candidates, candidatesCard(facts, rows, { whole, leftOut, signal }));
  }

  async function explain(asked = true) {
    panel.wait();
    try {
      const result = await replay(facts.id, { explain: true }, signal);
      if (signal.aborted) return;
      panel.say(result, facts.candidates !== null);
      const explanation = result.explanation;
      if (key(result.outcome) === "identical" && explanation?.spans?.length) {
        draw(explainedRows(explanation), { whole: true, leftOut: explanation.spansLeftOut });
      } else {
        await name();
      }
      if (asked) announce(panel.element.textContent);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      panel.fail(error, facts.candidates !== null);
      await name();
    }
  }

  /** The record holds no names of sources; memory may still know them. */
  async function name() {
    if (facts.kind === "select") return; // Its spans are the caller's own; memory knows none of them.
    const named = await nameSources(facts.candidates ?? facts.packed, signal);
    if (!signal.aborted) draw(named, { whole: facts.candidates !== null, leftOut: facts.leftOut });
  }
}
