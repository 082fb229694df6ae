/**
 * The API key of the person at the page.
 *
 * Rule: it is in memory, and in this tab's session storage if the person said so; never in an address, a cookie or a log.
 */

const NAME = "telha.key";

const watching = [];
let key = read();

/** The key, or an empty string. */
export function current() {
  return key;
}

/** Use *given*; *keep* it for reloads of this tab. */
export function signIn(given, keep) {
  key = given;
  store(keep ? given : "");
  for (const run of watching) run();
}

/** Forget the key, everywhere. */
export function signOut() {
  key = "";
  store("");
  for (const run of watching) run();
}

/** Have *run* called whenever there is another key, or none: what the last one could see is not the next one's. */
export function onOtherKey(run) {
  watching.push(run);
}

function read() {
  try {
    return sessionStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
}

function store(value) {
  try {
    if (value) sessionStorage.setItem(NAME, value);
    else sessionStorage.removeItem(NAME);
  } catch {
    // Storage is forbidden here: the key lives as long as the page.
  }
}
