/** "Why not …?": a person names a source, or a section of it, and is told why it is not in the plan. */

import { Refusal, replay } from "./api.js";
import { h, show } from "./elements.js";
import { line, visible } from "./foreign.js";
import { counted, moment, rfc3339, score, whole } from "./format.js";
import { announce, chip, failure, waiting } from "./parts.js";
import { OUTCOMES, VERDICTS, behind, key, outcomeName, sentence } from "./words.js";

/** The card with the question, and below it the answer. */
export function whyNotCard(facts, signal) {
  const source = h("input", {
    id: "why-source",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: "1024",
    required: true,
  });
  const section = h("input", { id: "why-section", type: "text", autocomplete: "off", maxlength: "1024" });
  const answer = h("div", { class: "answer", role: "region", "aria-label": "Answer", "aria-live": "polite" });

  async function submit(event) {
    event.preventDefault();
    const named = { source: source.value.trim(), section: section.value.trim() };
    if (!named.source) return source.focus();
    show(answer, waiting("Looking…"));
    try {
      const subject = named.section ? named : { source: named.source };
      const result = await replay(facts.id, { whyNot: [subject] }, signal);
      if (signal.aborted) return;
      const same = key(result.outcome) === "identical";
      const subjects = result.explanation?.subjects ?? [];
      show(
        answer,
        !same &&
          h(
            "p",
            { class: "result bad" },
            "Made anew, the plan is another one: this is what holds of the plan as it would be now.",
          ),
        subjects.map(subjectView),
      );
      announce(subjects.map((each) => each.because).join(" "));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      show(answer, failure(error));
    }
  }

  return h(
    "section",
    { class: "card whynot", "aria-label": "Why not" },
    h("h2", {}, "Why not …?"),
    h("p", { class: "soft" }, "Name a source that you expected. The answer also covers what was never a candidate."),
    h(
      "form",
      { on: { submit }, novalidate: true },
      h("div", { class: "field" }, h("label", { for: "why-source" }, "Source, by name or id"), source),
      h("div", { class: "field" }, h("label", { for: "why-section" }, "Section (optional)"), section),
      h("button", { type: "submit", class: "primary" }, "Why not?"),
    ),
    answer,
  );
}

function subjectView(subject) {
  const verdict = key(subject.verdict);
  const best = subject.candidates?.[0];
  return h(
    "article",
    { class: "verdict" },
    h(
      "p",
      { class: "because" },
      verdict === "candidate" && best
        ? chip(key(best.outcome))
        : verdictTag(subject),
      " ",
      sentence(visible(subject.because ?? "")),
    ),
    subject.candidates?.length > 0 &&
      h("ul", { class: "plain" }, subject.candidates.map(candidateView), left(subject.candidatesLeftOut, "candidate")),
    subject.nodes?.length > 0 && h("h3", {}, "Never a candidate"),
    subject.nodes?.length > 0 &&
      h("ul", { class: "plain" }, subject.nodes.map(nodeView), left(subject.nodesLeftOut, "node")),
  );
}

/** The verdict's name, unless the sentence that follows says it. */
function verdictTag({ verdict, because }) {
  const name = VERDICTS[key(verdict)] ?? visible(verdict);
  const said = String(because ?? "").toLowerCase();
  return !said.includes(name.toLowerCase()) && h("span", { class: "tag" }, name);
}

function candidateView(span) {
  const outcome = key(span.outcome);
  return h(
    "li",
    {},
    chip(outcome),
    " ",
    line(span.sourceName || span.span.sourceId),
    h(
      "span",
      { class: "soft" },
      ` bytes ${whole(span.span.start)}–${whole(span.span.end)}, weight ${score(span.weight)}, `,
      counted(span.tokens, "token"),
      span.rank ? `, rank ${whole(span.rank)}` : "",
    ),
    h("p", {}, behind(outcomeName(outcome), visible(span.because || OUTCOMES[outcome]?.means || ""))),
  );
}

function nodeView(node) {
  const verdict = key(node.verdict);
  return h(
    "li",
    {},
    verdictTag(node),
    " ",
    h(
      "span",
      { class: "soft" },
      line(node.type ?? ""),
      " ",
      node.span && `bytes ${whole(node.span.start)}–${whole(node.span.end)}`,
    ),
    h("p", {}, sentence(visible(node.because ?? ""))),
    verdict === "notvisible" && instants(node),
  );
}

function instants(node) {
  const since = node.since ?? node.sinceUs;
  const until = node.until ?? node.untilUs;
  const axis = key(node.axis) === "txtime" ? "known to memory" : "true";
  const at = (us) => h("time", { datetime: rfc3339(us), title: rfc3339(us) }, moment(us));
  return h(
    "p",
    { class: "soft small" },
    `It is ${axis}`,
    since !== undefined && [" from ", at(since)],
    until !== undefined ? [" until ", at(until)] : " without end",
    ".",
  );
}

function left(count, noun) {
  return Number(count ?? 0) > 0 && h("li", { class: "soft" }, `and ${counted(count, noun)} more`);
}
