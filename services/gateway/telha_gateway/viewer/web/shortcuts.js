/** Keys: everything can be reached with Tab and Enter; these are quicker. */

import { h } from "./elements.js";
import { button } from "./parts.js";

const KEYS = [
  ["j  or  ↓", "next row"],
  ["k  or  ↑", "previous row"],
  ["Enter", "open the row"],
  ["/", "to the filter"],
  ["g", "to the list of traces"],
  ["?", "these keys"],
];

/** Listens for keys; rows are the elements marked `data-row` in *main*, the filter the one marked `data-filter`. */
export function shortcuts(main) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest?.("input, select, textarea, dialog, [contenteditable]")) return;
    const arrow = event.key.startsWith("Arrow");
    const rows = [...main.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility?.() ?? true);
    const at = rows.indexOf(document.activeElement);
    if (arrow && at < 0) return; // The page scrolls, as always.
    if (event.key === "j" || event.key === "ArrowDown") reach(rows[Math.min(at + 1, rows.length - 1)]);
    else if (event.key === "k" || event.key === "ArrowUp") reach(rows[Math.max(at - 1, 0)]);
    else if (event.key === "/") reach(main.querySelector("[data-filter]"));
    else if (event.key === "g") document.querySelector("a.brand").click();
    else if (event.key === "?") help();
    else return;
    event.preventDefault();
  });
}

/** Shows the keys. */
export function help() {
  const dialog = h(
    "dialog",
    { class: "card", "aria-labelledby": "keys-name", on: { close: () => dialog.remove() } },
    h("h2", { id: "keys-name" }, "Keys"),
    h(
      "dl",
      { class: "keys" },
      KEYS.map(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)]),
    ),
    button("Close", () => dialog.close(), { class: "primary" }),
  );
  document.body.append(dialog);
  dialog.showModal();
}

function reach(element) {
  if (!element) return;
  const folded = element.closest("details:not([open])");
  if (folded) folded.open = true;
  element.focus();
  element.scrollIntoView({ block: "nearest" });
}
