/**
 * What the views know about one trace: its record, read field by field, and its candidates as rows.
 *
 * Rule: a record may be of a kind or version that this page does not know; what is missing is shown as missing.
 */

import { key } from "./words.js";

const CLASSES = ["truth", "cache"];

/** The record of *trace*, as `GET /v1/trace/{id}` answers it, in the page's terms. */
export function read(trace) {
  const record = trace.record ?? {};
  const budget = record.budget ?? {};
  const overhead = Number(budget.spanOverheadTokens ?? 0);
  const applied = Number(budget.applied ?? trace.budget);
  const share = Number(budget.maxFracPerSource ?? 1);
  const stats = record.stats ?? {};
  return {
    id: trace.traceId,
    kind: trace.kind,
    recorded: trace.recorded,
    hash: trace.planHash ?? record.plan_hash ?? null,
    planModel: record.plan_model,
    scoreModel: record.score_model,
    question: typeof record.request?.question === "string" ? record.request.question : null,
    query: record.request?.query ?? record.request?.find ?? null,
    window: record.window?.txTime ? record.window : null,
    spaces: trace.spaces,
    error: record.error ?? null,
    tokenizer: record.tokenizer,
    estimate: record.token_estimate === true,
    applied,
    requested: Number(budget.requested ?? applied),
    used: Number(budget.used ?? trace.used),
    stranded: Number(budget.stranded ?? trace.stranded),
    maxSpans: Number(budget.maxSpans ?? 0),
    share,
    overhead,
    cap: Number(record.explained?.sourceCap ?? Math.floor(share * applied)),
    stats,
    recall: stats.recall ?? null,
    packed: packedRows(record, overhead),
    candidates: recordedRows(record),
    constants: record.explained?.constants ?? null,
    leftOut: Number(record.explained?.leftOut ?? 0) + Number(trace.explainedLeftOut ?? 0),
    record,
  };
}

/** Rows of all candidates from the record of a call that asked for an explanation; null of any other. */
function recordedRows({ explained }) {
  if (!Array.isArray(explained?.rows)) return null;
  return explained.rows.map(
    ([
      sourceId,
      sourceVersionTx,
      start,
      end,
      kind,
      spanClass,
      weight,
      tokens,
      outcome,
      rank,
      density,
      budgetLeft,
      sourceSpent,
      duplicate,
      parts,
    ]) => {
      const span = { kind, weight, tokens, outcome, rank, density, budgetLeft, sourceSpent, score: scoreOf(parts) };
      span.span = { sourceId, sourceVersionTx, start, end };
      span.class = CLASSES[spanClass];
      if (duplicate)
        span.duplicate = { of: { ...span.span, start: duplicate[0], end: duplicate[1] }, overlap: duplicate[2] };
      return rowOf(span);
    },
  );
}

function scoreOf(parts) {
  if (!Array.isArray(parts)) return null;
  const [
    nodeId,
    score,
    similarity,
    semantic,
    lexical,
    context,
    source,
    speaker,
    days,
    window,
    decay,
    evidence,
    structured,
    legs,
    path,
  ] = parts;
  const known = { nodeId, score, semantic, lexical, context, source, speaker, days, window, decay, structured, path };
  known.legs = (legs ?? []).map(([leg, rank]) => ({ leg, rank }));
  known.hops = Math.max(0, (path ?? []).length - 1);
  return { ...known, similarity: similarity ?? undefined, evidence: evidence ?? undefined };
}

/** Rows of the packed spans, in packing order, from the record alone. */
function packedRows(record, overhead) {
  const coords = Array.isArray(record.item_coords) ? record.item_coords : [];
  const facts = Array.isArray(record.item_facts) ? record.item_facts : [];
  const rows = coords.map(([sourceId, sourceVersionTx, start, end], at) => {
    const [kind, spanClass, weight, tokens] = facts[at] ?? [];
    return {
      place: { sourceId, sourceVersionTx, start, end },
      name: "",
      kind: kind ?? "",
      class: CLASSES[spanClass] ?? "unknown",
      weight,
      tokens: Number(tokens ?? 0),
      density: weight / Math.max(1, Number(tokens ?? 0) + overhead),
      outcome: "packed",
      rank: null,
      explained: null,
    };
  });
  return rows.sort((a, b) => b.density - a.density || b.weight - a.weight);
}

/** Rows of all candidates, in packing order, from an explanation. */
export function explainedRows(explanation) {
  return (explanation?.spans ?? []).map(rowOf);
}

function rowOf(span) {
  return {
    place: span.span,
    name: span.sourceName ?? "",
    kind: span.kind ?? "",
    class: span.class ?? span.spanClass ?? "unknown",
    weight: span.weight ?? 0,
    tokens: Number(span.tokens ?? 0),
    density: span.density ?? 0,
    outcome: key(span.outcome),
    rank: Number(span.rank ?? 0) || null,
    explained: span,
  };
}

/** What packed rows take of the budget, by source, largest first: `[{sourceId, name, used, spans}]`. */
export function bySource(rows, overhead) {
  const sources = new Map();
  for (const row of rows) {
    if (row.outcome !== "packed") continue;
    const of = sources.get(row.place.sourceId) ?? { sourceId: row.place.sourceId, name: row.name, used: 0, spans: 0 };
    of.name ||= row.name;
    of.used += row.tokens + overhead;
    of.spans += 1;
    sources.set(of.sourceId, of);
  }
  return [...sources.values()].sort((a, b) => b.used - a.used || (a.sourceId < b.sourceId ? -1 : 1));
}

/** One text for a place, equal for equal places. */
export function placeKey({ sourceId, sourceVersionTx, start, end }) {
  return `${sourceId}@${sourceVersionTx}:${start}-${end}`;
}

/** How many rows came to each outcome. */
export function outcomes(rows) {
  const counts = new Map();
  for (const { outcome } of rows) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}
