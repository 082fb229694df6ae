/*
 * Light or dark, before anything is drawn: a classic script, so that the page never flashes.
 * The system decides until a person has chosen; the choice stays in this browser.
 */
"use strict";

(() => {
  try {
    const chosen = localStorage.getItem("telha.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage is forbidden here: the system's choice holds.
  }
})();
