/** Two traces beside each other. */

import { difference } from "./api.js";
import { differenceView, named } from "./difference.js";
import { h, show } from "./elements.js";
import { line, visible } from "./foreign.js";
import { moment, rfc3339, whole } from "./format.js";
import { bar, copyButton, instant, link, waiting } from "./parts.js";

/** Draws the comparison of *place*. */
export async function diffView(parent, place, { signal, arrive }) {
  parent.dataset.title = "Two traces compared";
  show(parent, h("h1", {}, "Two traces compared"), waiting("Comparing…"));
  const answer = await difference(place.id, place.other, signal);
  if (signal.aborted) return;
  const same = answer.difference?.identical;
  const differing = h("div");
  const sides = { before: "the one", after: "the other" };
  show(differing, differenceView(answer.difference ?? {}, sides));
  show(
    parent,
    h(
      "p",
      { class: "crumb" },
      link("traces", "Traces"),
      h("span", { class: "soft", "aria-hidden": "true" }, " / "),
      link(`traces/${place.id}`, "this trace"),
    ),
    h("h1", { tabindex: "-1" }, same ? "Two traces, one plan" : "Two traces compared"),
    h("div", { class: "pair" }, side("The one", answer.before, place.id), side("The other", answer.after, place.other)),
    h("section", { class: "card", "aria-label": "Difference" }, h("h2", {}, "What differs"), differing),
    h(
      "div",
      { class: "actions" },
      link(`traces/${place.other}/diff/${place.id}`, "The other way round", { class: "button" }),
      copyButton("Copy link", () => location.origin + location.pathname),
      copyButton("Copy as JSON", () => JSON.stringify(answer, null, 2)),
    ),
  );
  arrive();
  if (answer.before?.kind === "select" && answer.after?.kind === "select") return;
  const known = await named(answer.difference ?? {}, signal);
  if (!signal.aborted) show(differing, differenceView(known, sides));
}

function side(name, plan = {}, id) {
  const budget = Number(plan.budget ?? 0);
  const used = Number(plan.used ?? 0);
  return h(
    "section",
    { class: "card", "aria-label": name },
    h("h2", {}, name),
    h(
      "p",
      {},
      link(`traces/${id}`, [
        h("span", { class: "tag" }, line(plan.kind ?? "")),
        " ",
        instant(plan.recorded ?? plan.recordedUs ?? 0),
      ]),
    ),
    h(
      "dl",
      { class: "facts" },
      plan.window && fact("True on", time(plan.window.validTime)),
      plan.window && fact("As we knew it on", time(plan.window.txTime)),
      fact(
        "Budget",
        h("span", { class: "used" }, bar(budget ? used / budget : 0), `${whole(used)} of ${whole(budget)}`),
      ),
      fact("Plan hash", h("code", { class: "breaks" }, visible(plan.planHash || "none"))),
    ),
  );
}

function time(us) {
  return h("time", { datetime: rfc3339(us), title: rfc3339(us) }, moment(us));
}

function fact(name, ...content) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, ...content));
}
