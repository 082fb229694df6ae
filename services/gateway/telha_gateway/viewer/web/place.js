/** Addresses of the viewer: what each one shows, and how to go there. */

import { ROOT } from "./api.js";

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What the address of the page shows: `{view, id?, other?, query}`. */
export function here(address = location) {
  const path = decoded(address.pathname.slice(ROOT.pathname.length));
  const [, id, word, other, ...more] = path;
  const query = new URLSearchParams(address.search);
  if (id === undefined) return { view: "list", query };
  if (!isId(id) || more.length || (word !== undefined && (word !== "diff" || !isId(other))))
    return { view: "nowhere", query };
  return other === undefined ? { view: "trace", id, query } : { view: "diff", id, other, query };
}

/** Whether *text* is a trace's id. */
export function isId(text) {
  return ID.test(text ?? "");
}

/** The id in what a person pasted: itself, or the address of a trace. */
export function idIn(pasted) {
  const last = pasted.trim().toLowerCase().split(/[?#]/)[0].split("/").filter(Boolean).at(-1);
  return isId(last) ? last : null;
}

/** The list with *filters*, without those that are empty. */
export function listPlace(filters = {}) {
  const set = Object.entries(filters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return set.length ? `traces?${new URLSearchParams(set)}` : "traces";
}

/** Show *place*; *state* goes with the entry of the history. */
export function go(place, state = {}) {
  history.pushState(state, "", new URL(place, ROOT));
  dispatchEvent(new Event("place"));
}

function decoded(path) {
  try {
    return path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return ["traces", ""];
  }
}
