/**
 * Why a candidate has its outcome, out of the numbers that a record keeps: a record holds no sentence.
 *
 * Rule: the words are the planner's (docs/explain.md), so that a kept explanation reads like one made anew.
 */

import { counted, whole } from "./format.js";
import { placeKey } from "./model.js";

/**
 * The sentence of *row*, a row of the record; empty for an outcome that this page does not know.
 *
 * @param {object} facts As `model.read` gives them: the limits, and all candidates.
 */
export function because(row, facts) {
  const { budgetLeft: left, sourceSpent: spent, duplicate } = row.explained;
  const size = sizeOf(row.tokens, facts.overhead);
  const of = `${whole(left)} left of ${whole(facts.applied)}`;
  switch (row.outcome) {
    case "packed":
      return `packed: ${size}, ${of} before it`;
    case "unpackable":
      return `larger than the whole budget: ${size}, the budget is ${whole(facts.applied)}`;
    case "spanlimit":
      return `came after the limit of ${counted(facts.maxSpans, "span")}: ${size}, ${of}`;
    case "sourcecap":
      return `too much of one source: ${size}, ${whole(spent)} of ${whole(facts.cap)} taken before it`;
    case "budget":
      return `did not fit: ${size}, ${of}`;
    case "duplicate":
      return duplicate ? repeated(row, duplicate, facts) : "";
    default:
      return "";
  }
}

function sizeOf(tokens, overhead) {
  const all = counted(tokens + overhead, "token");
  return overhead ? `${all}, ${whole(overhead)} of them around it` : all;
}

function repeated(row, { of, overlap }, { candidates }) {
  const shared = (Math.floor(overlap * 100) / 100).toFixed(2);
  const said = `repeats [${of.start}:${of.end}) of the same version (overlap ${shared})`;
  const kept = candidates.find((other) => placeKey(other.place) === placeKey(of));
  if (!kept) return said; // Among those that the record had no room for.
  return `${said}, which ${kept.weight > row.weight ? "weighs more" : "weighs as much and stands before it"}`;
}
