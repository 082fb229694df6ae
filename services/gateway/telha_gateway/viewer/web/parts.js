/** Small pieces that several views are made of. */

import { h, svg } from "./elements.js";
import { ago, moment, rfc3339 } from "./format.js";
import { visible } from "./foreign.js";
import { ROOT } from "./api.js";
import { OUTCOMES, outcomeName, refusal } from "./words.js";

/** One path per outcome, in a box of 12 by 12, so that none is told by colour alone. */
const SHAPES = {
  packed: "M1.5 6.5 4.5 9.5 10.5 2.5",
  sourcecap: "M1.5 3h9M6 10V5M3.5 7.5 6 5l2.5 2.5",
  budget: "M6 1.5a4.5 4.5 0 1 0 .01 0M3 3l6 6",
  spanlimit: "M2 2v8M5 2v8M8 4l2.5 2L8 8",
  unpackable: "M1.5 1.5h9v9h-9zM4 4l4 4M8 4 4 8",
  duplicate: "M1.5 1.5h6v6h-6zM4.5 4.5h6v6h-6z",
};
const UNKNOWN_SHAPE = "M6 2v5M6 9.5v.5";

/** A link to a place of this viewer; `main.js` opens it without loading the page anew. */
export function link(place, text, given = {}) {
  return h("a", { href: new URL(place, ROOT).href, ...given }, text);
}

/** Says what became of a candidate, by shape and by word. */
export function chip(outcome) {
  return h(
    "span",
    { class: `chip chip-${outcome in OUTCOMES ? outcome : "other"}`, title: OUTCOMES[outcome]?.means },
    icon(SHAPES[outcome] ?? UNKNOWN_SHAPE),
    visible(outcomeName(outcome)),
  );
}

/** A drawing of one line, hidden from those who do not see it. */
export function icon(path) {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 12 12", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: path }),
  );
}

/** An instant: how long ago, and exactly. */
export function instant(us, { relative = true } = {}) {
  return h(
    "time",
    { datetime: rfc3339(us), title: rfc3339(us) },
    relative && h("span", { class: "strong" }, ago(us)),
    relative && " ",
    h("span", { class: relative ? "soft" : "" }, moment(us)),
  );
}

/** A thin bar, *share* of it full; the number stands beside it. */
export function bar(share, kind = "") {
  const width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
  return h("span", { class: `bar ${kind}`.trim(), "aria-hidden": "true" }, h("span", { css: { width } }));
}

/** A button. */
export function button(text, run, given = {}) {
  return h("button", { type: "button", ...given, on: { click: run } }, text);
}

/** Says what went wrong and what to do, with a way to try again. */
export function failure(error, again) {
  const [heading, advice] = refusal(error);
  return h(
    "div",
    { class: "notice bad", role: "alert" },
    h("h2", {}, heading),
    h("p", {}, visible(advice)),
    error.requestId && h("p", { class: "soft small" }, "Request ", h("code", {}, visible(error.requestId))),
    again && button("Try again", again),
  );
}

/** Says that something is on its way. */
export function waiting(text) {
  return h("p", { class: "waiting", role: "status" }, text);
}

/** Tell those who do not see the page. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** Copies *text*; the button says so. */
export function copyButton(label, text, given = {}) {
  const made = button(
    label,
    async () => {
      const done = await copied(typeof text === "function" ? text() : text);
      made.textContent = done ? "Copied" : "Could not copy";
      announce(done ? `${label}: copied` : "The browser did not allow to copy");
      setTimeout(() => (made.textContent = label), 1600);
    },
    given,
  );
  return made;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
