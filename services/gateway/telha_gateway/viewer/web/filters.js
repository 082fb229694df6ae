/** The filter of the list: a form that becomes the address. */

import { h } from "./elements.js";
import { button } from "./parts.js";
import { go, listPlace } from "./place.js";

const SHARES = [
  ["", "any share"],
  ["0-0.25", "up to a quarter"],
  ["0.25-0.5", "a quarter to a half"],
  ["0.5-0.9", "a half to 90%"],
  ["0.9-1", "90% and more"],
];
const KINDS = [
  ["", "any kind"],
  ["plan", "plan"],
  ["context", "context"],
  ["select", "select"],
];
const STRANDED = [
  ["", "either"],
  ["true", "yes"],
  ["false", "no"],
];

/** The filter, set as the address says in *query*. */
export function filters(query) {
  const space = h("input", {
    id: "space",
    type: "text",
    value: query.space,
    autocomplete: "off",
    "data-filter": true,
    maxlength: "512",
  });
  const kind = choice("kind", KINDS, query.kind);
  const used = choice("used", SHARES, query.used);
  const stranded = choice("stranded", STRANDED, query.stranded);
  const from = h("input", { id: "from", type: "datetime-local", step: "1", value: typed(query.from) });
  const to = h("input", { id: "to", type: "datetime-local", step: "1", value: typed(query.to) });

  function submit(event) {
    event.preventDefault();
    go(
      listPlace({
        kind: kind.value,
        space: space.value.trim(),
        used: used.value,
        stranded: stranded.value,
        from: universal(from.value),
        to: universal(to.value),
      }),
    );
  }

  const active = ["kind", "space", "used", "stranded", "from", "to"].some((name) => query[name]);
  return h(
    "details",
    { class: "filters", open: active || matchMedia("(min-width: 60rem)").matches },
    h("summary", {}, "Filter"),
    h(
      "form",
      { role: "search", "aria-label": "Filter traces", on: { submit } },
      field("Space", space),
      field("Kind", kind),
      field("Budget used", used),
      field("Stranded by the cap", stranded),
      field("From (UTC)", from),
      field("To (UTC)", to),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "submit", class: "primary" }, "Apply"),
        active && button("Clear", () => go("traces"), { class: "quiet" }),
      ),
    ),
  );
}

/** The parameters of `GET /v1/traces` for the address's *query*. */
export function parametersOf(query) {
  const { kind, space, stranded, from, to, used, pageToken } = query;
  const [least, most] = (used ?? "").split("-");
  const asked = { kind, space, stranded, from, to, pageToken, minUsedShare: least, maxUsedShare: most };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value));
}

function choice(id, options, chosen) {
  return h(
    "select",
    { id },
    options.map(([value, text]) => h("option", { value, selected: value === (chosen ?? "") }, text)),
  );
}

function field(text, control) {
  return h("div", { class: "field" }, h("label", { for: control.id }, text), control);
}

/** RFC 3339 as what `datetime-local` takes: the same instant in UTC, without saying so. */
function typed(instant) {
  const at = new Date(instant ?? NaN);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().slice(0, 19);
}

function universal(given) {
  const at = new Date(`${given}Z`);
  return given && !Number.isNaN(at.getTime()) ? at.toISOString() : "";
}
