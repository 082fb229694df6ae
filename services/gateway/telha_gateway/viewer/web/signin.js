/** Signing in: the key goes into memory, and into nothing else unless the person wants it. */

import { h, show } from "./elements.js";
import { refusal } from "./words.js";
import { signIn } from "./session.js";
import { visible } from "./foreign.js";

const KEY = /^[\x21-\x7e]+$/;

/**
 * The form.
 *
 * @param {{onSignedIn: function(): void, refused?: Refusal}} how *refused*: why the last key was not accepted.
 */
export function signInView(parent, { onSignedIn, refused }) {
  const field = h("input", {
    id: "key",
    type: "password",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    required: true,
    "data-first": true,
    "aria-describedby": "key-help key-fault",
  });
  const keep = h("input", { id: "keep", type: "checkbox" });
  const fault = h("p", { id: "key-fault", class: "fault", role: "alert" });
  if (refused) fault.textContent = visible(refusal(refused).join(". "));

  function submit(event) {
    event.preventDefault();
    const given = field.value.trim().replace(/^Bearer\s+/i, "");
    if (!KEY.test(given)) {
      fault.textContent = given ? "A key has no spaces and only plain characters." : "Paste a key first.";
      field.setAttribute("aria-invalid", "true");
      field.focus();
      return;
    }
    field.value = "";
    signIn(given, keep.checked);
    onSignedIn();
  }

  delete parent.dataset.title;
  show(
    parent,
    h(
      "section",
      { class: "signin card" },
      h("h1", {}, "Sign in"),
      h(
        "p",
        {},
        "Traces say why each span is in a plan, or out of it. They are shown to whoever has a key that may read them.",
      ),
      h(
        "form",
        { on: { submit }, novalidate: true },
        h("label", { for: "key" }, "API key"),
        field,
        h(
          "p",
          { id: "key-help", class: "soft small" },
          "Begins with telha_. It is sent to this gateway alone, and never put into an address or a cookie.",
        ),
        fault,
        h("label", { class: "check", for: "keep" }, keep, " Keep it in this tab until it is closed"),
        h("button", { type: "submit", class: "primary" }, "Sign in"),
      ),
    ),
  );
  field.focus();
}
