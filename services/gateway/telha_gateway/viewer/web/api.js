/** Calls of the gateway's REST surface, with the person's key; failures as `Refusal`s. */

import { current } from "./session.js";

/** The gateway, wherever a proxy has put it: three folders above this file. */
export const ROOT = new URL("../../../", import.meta.url);

/** What the gateway did not do, and why; `status` 0: it could not be reached. */
export class Refusal extends Error {
  constructor(status, { code = "UNREACHABLE", detail = "", retryAfterMs = null, requestId = "" } = {}) {
    super(detail);
    Object.assign(this, { status, code, detail, retryAfterMs, requestId });
  }
}

/**
 * The answer of one call, decoded.
 *
 * @param {string} path Below the gateway's root, encoded.
 * @param {{body?: object, signal?: AbortSignal}} how A body makes it a POST.
 * @throws {Refusal}
 */
export async function ask(path, { body, signal } = {}) {
  const headers = { authorization: `Bearer ${current()}`, accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(new URL(path, ROOT), {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0);
  }
  const text = await response.text();
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Refusal(response.status, { code: "NOT_JSON", detail: "the answer is not JSON" });
  }
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

/** A page of traces. *parameters* are those of `GET /v1/traces`. */
export function traces(parameters, signal) {
  return ask(`v1/traces?${new URLSearchParams(parameters)}`, { signal });
}

/** One trace. */
export function trace(id, signal) {
  return ask(`v1/trace/${encodeURIComponent(id)}`, { signal });
}

/** What the same call gives as of the trace's instants: `{explain, whyNot}` as *asked*. */
export function replay(id, asked, signal) {
  return ask(`v1/trace/${encodeURIComponent(id)}/replay`, { body: asked, signal });
}

/** How two traces differ. */
export function difference(id, other, signal) {
  return ask(`v1/trace/${encodeURIComponent(id)}/diff/${encodeURIComponent(other)}`, { signal });
}

/** The text of a span, cut out of its source anew; nothing of it is kept. */
export async function spanText(place, signal) {
  const asked = new URLSearchParams({
    includeText: "true",
    version: place.sourceVersionTx,
    textStart: place.start,
    textLimit: Number(place.end) - Number(place.start),
  });
  return ask(`v1/memory/sources/${encodeURIComponent(place.sourceId)}?${asked}`, { signal });
}
