/** Choosing another trace to compare with: one of the newest, or one whose id is pasted. */

import { traces } from "./api.js";
import { h, show } from "./elements.js";
import { line, visible } from "./foreign.js";
import { whole } from "./format.js";
import { instant, link, waiting } from "./parts.js";
import { go, idIn } from "./place.js";
import { refusal } from "./words.js";

const OFFERED = 12;

/** The button and what it unfolds. */
export function compareBox(id) {
  const recent = h("div", {}, waiting("Reading traces…"));
  const fault = h("p", { class: "fault", role: "alert" });
  const field = h("input", {
    id: "other",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "other-fault",
  });
  fault.id = "other-fault";
  function submit(event) {
    event.preventDefault();
    const other = idIn(field.value);
    if (other === null || other === id) {
      fault.textContent =
        other === id ? "That is this trace; choose another one." : "Paste the id of a trace, or its address.";
      field.focus();
      return;
    }
    go(`traces/${id}/diff/${other}`);
  }
  const box = h(
    "details",
    { class: "menu", on: { toggle: () => box.open && offer(), keydown: (event) => event.key === "Escape" && close() } },
    h("summary", { class: "button" }, "Compare with…"),
    h(
      "div",
      { class: "card popup" },
      h(
        "form",
        { on: { submit } },
        h("label", { for: "other" }, "Trace id or address"),
        h("div", { class: "joined" }, field, h("button", { type: "submit" }, "Compare")),
        fault,
      ),
      h("h2", {}, "The newest"),
      recent,
    ),
  );
  async function offer() {
    try {
      const page = await traces({ pageSize: OFFERED });
      const others = page.traces.filter((each) => each.traceId !== id && each.planHash);
      show(
        recent,
        others.length
          ? h(
              "ul",
              { class: "plain" },
              others.map((each) => item(id, each)),
            )
          : h("p", { class: "soft" }, "There is no other one."),
      );
    } catch (error) {
      show(recent, h("p", { class: "fault" }, visible(refusal(error).join(". "))));
    }
  }
  function close() {
    box.open = false;
    box.querySelector("summary").focus();
  }
  return box;
}

function item(id, other) {
  const text = [
    instant(other.recorded),
    " ",
    h("span", { class: "soft" }, line(other.kind), `, ${whole(other.used)} of ${whole(other.budget)} tokens`),
  ];
  return h("li", {}, link(`traces/${id}/diff/${other.traceId}`, text));
}
