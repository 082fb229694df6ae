/**
 * One trace: what was asked, what was decided, and why each candidate is in the plan or out of it.
 *
 * The record alone gives the packed spans, and all candidates where the call asked for an explanation. The rest comes
 * from making the plan anew as of the trace's instants: if that gives the recorded hash, its explanation holds for the
 * trace; if not, the page says so and shows what the record has.
 */

import { Refusal, replay, trace } from "./api.js";
import { budgetCard } from "./budget.js";
import { candidatesCard, startingState } from "./candidates.js";
import { h, show } from "./elements.js";
import { flowCard } from "./flow.js";
import { heading } from "./heading.js";
import { explainedRows, read } from "./model.js";
import { nameSources } from "./names.js";
import { waiting } from "./parts.js";
import { replayPanel } from "./replay.js";
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
  const kept = startingState();
  const panel = replayPanel({ again: () => explain() });
  const slots = { budget: h("div"), flow: h("div"), candidates: h("div") };
  show(
    parent,
    heading(facts, answer, { onReplay: () => explain() }),
    facts.error === "INSUFFICIENT_EVIDENCE" && noEvidence(),
    panel.element,
    h("div", { class: "pair" }, slots.budget, slots.flow),
    REPLAYED.has(facts.kind) && whyNotCard(facts, signal),
    slots.candidates,
  );
  const recorded = { whole: facts.candidates !== null, leftOut: facts.leftOut, constants: facts.constants };
  draw(facts.candidates ?? facts.packed, recorded);
  arrive();
  if (REPLAYED.has(facts.kind)) await explain();
  else await name();

  /** *how*: whether the rows are all candidates (`whole`) but for `leftOut`, and the `constants` of their scores. */
  function draw(rows, how) {
    show(slots.budget, budgetCard(facts, rows, facts.cap));
    show(slots.flow, flowCard(facts));
    const held = slots.candidates.contains(document.activeElement) ? document.activeElement : null;
    show(slots.candidates, candidatesCard(facts, rows, { ...how, kept, signal }));
    if (held) standIn(slots.candidates, held)?.focus({ preventScroll: true });
  }

  async function explain() {
    panel.wait();
    try {
      const result = await replay(facts.id, { explain: true }, signal);
      if (signal.aborted) return;
      panel.say(result, facts.candidates !== null);
      const explanation = result.explanation;
      if (key(result.outcome) === "identical" && explanation?.spans?.length) {
        const { spansLeftOut: leftOut, constants } = explanation;
        draw(explainedRows(explanation), { whole: true, leftOut, constants });
      } else {
        await name();
      }
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
    if (!signal.aborted) draw(named, recorded);
  }
}

/** What in *parent*, drawn anew, stands where *held* stood: itself, or what has its name. */
function standIn(parent, held) {
  if (held.isConnected) return held;
  const name = ["aria-controls", "data-outcome", "id"].find((each) => held.hasAttribute(each));
  return name && parent.querySelector(`[${name}="${CSS.escape(held.getAttribute(name))}"]`);
}

function noEvidence() {
  return h(
    "div",
    { class: "notice" },
    h("h2", {}, "No evidence was found"),
    h(
      "p",
      {},
      "Nothing that memory holds at these instants counts as evidence for this question, ",
      "so the caller got no plan but a refusal. Below: what the legs found, and why not what you expected.",
    ),
  );
}
