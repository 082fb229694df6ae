/** The list of traces, newest first, filtered and paged; all of it is in the address. */

import { traces } from "./api.js";
import { h, show } from "./elements.js";
import { line } from "./foreign.js";
import { counted, percent, whole } from "./format.js";
import { filters, parametersOf } from "./filters.js";
import { announce, bar, instant, link, waiting, button } from "./parts.js";
import { go, listPlace } from "./place.js";
import { onOtherKey } from "./session.js";

const PAGE_SIZE = 50;
const KNOWN = 20;
/** Answers of this visit by address, so that going back is at once; the newest page is asked for again. */
const seen = new Map();
onOtherKey(() => seen.clear());

/** Draws the list of *place*. */
export async function listView(parent, place, { signal, arrive }) {
  const query = Object.fromEntries(place.query);
  const body = h("div", { "aria-busy": "true" }, waiting("Reading traces…"));
  parent.dataset.title = "Traces";
  show(parent, h("h1", {}, "Traces"), filters(query), body);
  const asked = new URLSearchParams({ ...parametersOf(query), pageSize: PAGE_SIZE }).toString();
  const known = query.pageToken ? seen.get(asked) : undefined;
  const page = known ?? (await traces(asked, signal));
  if (signal.aborted) return;
  remember(asked, page);
  body.removeAttribute("aria-busy");
  show(body, page.traces.length ? table(page.traces) : empty(query), paging(query, page));
  arrive();
  announce(`${counted(page.traces.length, "trace")} on this page`);
}

function table(rows) {
  const heads = ["Recorded", "Kind", "Spaces", "Budget", "Spans", "Stranded"];
  return h(
    "table",
    { class: "rows traces", "aria-label": "Traces" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((head) => h("th", { scope: "col", class: NUMERIC.has(head) && "number" }, head)),
      ),
    ),
    h("tbody", {}, rows.map(row)),
  );
}

const NUMERIC = new Set(["Spans", "Stranded"]);

function row(trace) {
  const share = trace.budget ? trace.used / trace.budget : 0;
  const cell = (head, ...content) => h("td", { "data-head": head, class: NUMERIC.has(head) && "number" }, ...content);
  return h(
    "tr",
    { class: "opens" },
    h(
      "th",
      { scope: "row", "data-head": "Recorded" },
      link(`traces/${trace.traceId}`, instant(trace.recorded), { "data-row": true, class: "whole" }),
    ),
    cell("Kind", h("span", { class: "tag" }, line(trace.kind))),
    cell("Spaces", spaces(trace.spaces)),
    cell(
      "Budget",
      trace.planHash
        ? h(
            "span",
            { class: "used" },
            bar(share),
            h("span", {}, `${whole(trace.used)} of ${whole(trace.budget)}`),
            h("span", { class: "soft" }, percent(share)),
          )
        : h("span", { class: "soft" }, "no evidence found"),
    ),
    cell("Spans", whole(trace.items)),
    cell("Stranded", trace.stranded ? whole(trace.stranded) : h("span", { class: "soft" }, "0")),
  );
}

function spaces(names) {
  if (!names.length) return h("span", { class: "soft" }, "none read");
  if (names.length === 1 && names[0] === "*") return "every space";
  const shown = names.slice(0, 3).flatMap((name, number) => [number ? ", " : "", line(name, { class: "clipped" })]);
  return names.length > 3 ? [...shown, h("span", { class: "soft" }, ` and ${names.length - 3} more`)] : shown;
}

function empty(query) {
  const filtered = Object.keys(query).length > 0;
  return h(
    "div",
    { class: "notice" },
    h("h2", {}, filtered ? "No trace matches" : "No traces yet"),
    filtered
      ? h("p", {}, "Loosen the filter, or see ", link("traces", "all traces"), ".")
      : h(
          "p",
          {},
          "Each call of Plan, Context and Select leaves one here, at once. Ask memory something: ",
          h("code", {}, 'telha memory context "…"'),
        ),
  );
}

function paging(query, page) {
  const { pageToken: token, ...rest } = query;
  const before = history.state?.before ?? [];
  const to = (pageToken, tokens) => () => go(listPlace({ ...rest, pageToken }), { before: tokens });
  if (!token && !page.nextPageToken) return null;
  return h(
    "nav",
    { class: "paging", "aria-label": "Pages" },
    token && button("Newest", to("", [])),
    token && before.length > 0 && button("Newer", to(before.at(-1), before.slice(0, -1))),
    page.nextPageToken && button("Older", to(page.nextPageToken, [...before, token ?? ""])),
  );
}

function remember(asked, page) {
  seen.delete(asked);
  seen.set(asked, page);
  if (seen.size > KNOWN) seen.delete(seen.keys().next().value);
}
