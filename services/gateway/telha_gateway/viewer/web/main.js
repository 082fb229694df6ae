/**
 * The trace viewer: why each span is in a plan, or out of it.
 *
 * The flow: an address (`place.js`) is shown by a view; a view asks the gateway (`api.js`) and builds elements
 * (`elements.js`). A view never outlives its address: what it still waits for is given up.
 */

import { Refusal } from "./api.js";
import { h, show } from "./elements.js";
import { here } from "./place.js";
import { announce, failure, link } from "./parts.js";
import { diffView } from "./diff.js";
import { listView } from "./list.js";
import { shortcuts } from "./shortcuts.js";
import { signInView } from "./signin.js";
import { tools } from "./tools.js";
import { traceView } from "./trace.js";
import * as session from "./session.js";

const VIEWS = { list: listView, trace: traceView, diff: diffView, nowhere: nowhereView };
const main = document.getElementById("main");
let leaving = new AbortController();
let first = true;

async function draw() {
  leaving.abort();
  leaving = new AbortController();
  const signal = leaving.signal;
  const place = here();
  tools(document.getElementById("tools"), { signedIn: session.current() !== "", onSignOut: signOut });
  if (!session.current()) {
    signInView(main, { onSignedIn: draw });
    return arrive(signal);
  }
  try {
    await VIEWS[place.view](main, place, { signal, arrive: () => arrive(signal) });
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Refusal && error.status === 401) {
      session.signOut();
      tools(document.getElementById("tools"), { signedIn: false, onSignOut: signOut });
      signInView(main, { onSignedIn: draw, refused: error });
    } else if (error instanceof Refusal) {
      show(main, h("h1", { tabindex: "-1" }, "Traces"), failure(error, draw), h("p", {}, link("traces", "All traces")));
    } else {
      throw error;
    }
    arrive(signal);
  }
}

/** The new place is there: name it, and put the reader at its heading, but for the first. */
function arrive(signal) {
  if (signal.aborted) return;
  const heading = main.querySelector("h1");
  const name = main.dataset.title ?? heading?.textContent ?? "Traces";
  document.title = `${name.slice(0, 80)} · Telha`;
  if (!first && heading && !main.querySelector("[data-first]")) {
    heading.setAttribute("tabindex", "-1");
    heading.focus({ preventScroll: true });
    announce(name);
  }
  first = false;
}

function nowhereView(parent, _, { arrive: done }) {
  show(parent, h("h1", {}, "No such place"), h("p", {}, "This address names no trace. ", link("traces", "All traces")));
  done();
}

function signOut() {
  session.signOut();
  draw();
  announce("Signed out");
}

/** Links within the viewer are opened here; with a modifier, or elsewhere, by the browser. */
function onClick(event) {
  const anchor = event.target.closest?.("a[href]");
  if (
    !anchor ||
    event.defaultPrevented ||
    event.button ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const to = new URL(anchor.href);
  if (to.origin !== location.origin || to.hash || !/\/traces(\/|$)/.test(to.pathname) || anchor.target) return;
  event.preventDefault();
  history.pushState({}, "", to);
  scrollTo(0, 0);
  draw();
}

/** What the page itself links to stays where it was when the address changes: relative links would move with it. */
function pin() {
  for (const each of document.querySelectorAll("link[rel=icon], a.brand")) each.setAttribute("href", each.href);
  for (const each of document.querySelectorAll(".brand img")) each.setAttribute("src", each.src);
}

pin();
addEventListener("click", onClick);
addEventListener("popstate", () => draw());
addEventListener("place", () => {
  scrollTo(0, 0);
  draw();
});
shortcuts(main);
draw();
