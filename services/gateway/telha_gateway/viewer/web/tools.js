/** The tools at the head of each page: theme, keys, signing out. */

import { h, show } from "./elements.js";
import { announce, button } from "./parts.js";
import { help } from "./shortcuts.js";

const NEXT = { system: "light", light: "dark", dark: "system" };
const NAMES = { system: "System", light: "Light", dark: "Dark" };

/** Draws them into *parent*. */
export function tools(parent, { signedIn, onSignOut }) {
  const theme = h("button", { type: "button", class: "quiet" });
  const name = () => show(theme, h("span", { class: "soft" }, "Theme "), NAMES[chosen()]);
  theme.addEventListener("click", () => {
    choose(NEXT[chosen()]);
    name();
    announce(`Theme: ${NAMES[chosen()]}`);
  });
  name();
  show(
    parent,
    theme,
    button("Keys", help, { class: "quiet", "aria-keyshortcuts": "?" }),
    signedIn && button("Sign out", onSignOut, { class: "quiet" }),
  );
}

function chosen() {
  return document.documentElement.dataset.theme ?? "system";
}

function choose(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem("telha.theme");
    else localStorage.setItem("telha.theme", theme);
  } catch {
    // Storage is forbidden here: the choice holds for this page.
  }
}
