/**
 * Text that others wrote: questions, names, spans. It may hold anything, and must not disturb what stands around it.
 *
 * Rule 1: it is isolated in direction, so that right-to-left text moves nothing outside itself.
 * Rule 2: in one-line text, characters that show nothing or that steer direction are shown as what they are.
 */

import { h } from "./elements.js";

// Controls, soft hyphen, zero-width and bidi characters, line and paragraph separators, fillers, tags, lone surrogates.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;
// What joins or parts letters where a script needs it, and what makes one emoji of several, stays as it is.
const JOINS_BEHIND =
  /(\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]*|[\p{sc=Arab}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}])$/u;
const FLAG_BEHIND = /\u{1f3f4}[\u{e0020}-\u{e007e}]*$/u;
/** Characters before one that decide what it means. */
const REACH = 16;

/** *text* with every character that cannot be seen written as ‹U+202E›. */
export function visible(text) {
  return pieces(String(text), (escape) => escape).join("");
}

/** One line of foreign text: a name, a question, an id. */
export function line(text, given = {}) {
  return h(
    "bdi",
    { dir: "auto", ...given, class: `foreign ${given.class ?? ""}`.trim() },
    pieces(String(text), escaped),
  );
}

/** Foreign text as it stands, line breaks kept: the bytes of a span. */
export function passage(text, given = {}) {
  const shown = String(text)
    .split(/(\r?\n|\t)/)
    .map((part, at) => (at % 2 ? part.replace("\r", "") : pieces(part, escaped)));
  return h("pre", { dir: "auto", ...given, class: `foreign passage ${given.class ?? ""}`.trim() }, shown);
}

/** *text* cut at each character that cannot be seen; what stands for it is made by *make* of ‹U+202E›. */
function pieces(text, make) {
  const found = [];
  let at = 0;
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (belongs(character, text.slice(Math.max(0, index - REACH), index))) continue;
    found.push(text.slice(at, index), make(`‹U+${code(character)}›`));
    at = index + character.length;
  }
  return [...found, text.slice(at)];
}

/** Stands for itself between texts of any direction. */
function escaped(text) {
  return h("bdi", { dir: "ltr", class: "escaped" }, text);
}

function belongs(character, before) {
  if (character === "\u200c" || character === "\u200d") return JOINS_BEHIND.test(before);
  return character.codePointAt(0) > 0xe001f && FLAG_BEHIND.test(before);
}

function code(character) {
  return character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
}
