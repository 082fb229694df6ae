/** The text of a span on demand: cut out of its source anew, shown, and kept nowhere. */

import { Refusal, spanText } from "./api.js";
import { h, show } from "./elements.js";
import { passage, visible } from "./foreign.js";
import { button, waiting } from "./parts.js";
import { refusal } from "./words.js";

/** A button that becomes the text of *place*. */
export function textBox(place, signal) {
  const box = h("div", { class: "text", "aria-live": "polite" }, button("Show text", read));
  async function read() {
    show(box, waiting("Reading the source…"));
    try {
      const source = await spanText(place, signal);
      show(box, h("h3", {}, "Text"), passage(source.text ?? ""));
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Refusal)) throw error;
      show(box, h("p", { class: "result bad" }, said(error)), error.status !== 404 && button("Try again", read));
    }
  }
  return box;
}

function said(error) {
  if (error.status === 404)
    return "This text is gone: its source was erased, or this key may not read it. The trace never held it.";
  return visible(refusal(error).join(". "));
}
