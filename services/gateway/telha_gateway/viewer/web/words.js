/** What the page says: outcomes, verdicts and refusals, each in one place. */

/** What became of a candidate: a shape for it, its name, and what it means. Keys are those of `outcomeKey`. */
export const OUTCOMES = {
  packed: { name: "Packed", means: "In the plan." },
  sourcecap: { name: "Source cap", means: "Would have exceeded the share of the budget that one source may take." },
  budget: { name: "Budget", means: "Did not fit what was left of the budget when its turn came." },
  spanlimit: { name: "Span limit", means: "Came after the span limit was reached." },
  unpackable: { name: "Unpackable", means: "Larger than the whole budget." },
  duplicate: { name: "Duplicate", means: "Overlaps or repeats a heavier span of the same source version." },
};

/** Why something that was named is in the plan, or is not: the verdicts of docs/explain.md. */
export const VERDICTS = {
  candidate: "Candidate",
  notvisible: "Not visible",
  otherspace: "Other space",
  notfound: "Not found",
  zeroscore: "Zero score",
  belowfloor: "Below the floor",
  windowtoolarge: "Window too large",
  poorerwindow: "Poorer window",
  poolcapped: "Pool capped",
  noprovenance: "No provenance",
  erased: "Erased",
  excluded: "Excluded",
  unknown: "Unknown",
};

/** Inputs of a plan, as `PlanDifference.changes` names them. */
export const INPUTS = {
  request: "Request",
  window: "Instants",
  spaces: "Spaces",
  budget: "Budget",
  planmodel: "Plan model",
  scoremodel: "Score model",
  tokenizer: "Tokenizer",
  indexversion: "Index version",
  configuration: "Configuration",
  queryvector: "Query vector",
  exclusions: "Exclusions",
  pool: "Pool",
  erasure: "Erasure",
  code: "Planner version",
};

/** The three legs and the expansion from what they found, as the record counts them, and what each finds. */
export const LEGS = [
  ["query", "Structured", "nodes that the query names"],
  ["vector", "Semantic", "nodes near the question's vector"],
  ["lexical", "Lexical", "nodes that share words with the question"],
  ["traversal", "Expansion", "nodes that only edges led to"],
];

/** An enumeration's value as a key of these tables, however it is written: `SPAN_LIMIT`, `spanLimit`, `span_limit`. */
export function key(value) {
  return String(value ?? "")
    .replace(/[^A-Za-z]/g, "")
    .toLowerCase();
}

/** The name of an outcome; one of a newer planner keeps its own. */
export function outcomeName(outcome) {
  return OUTCOMES[outcome]?.name ?? outcome;
}

/** A `Refusal` as a heading and what to do about it. */
export function refusal(error) {
  const wait = error.retryAfterMs
    ? ` Try again in ${Math.ceil(error.retryAfterMs / 1000)} s.`
    : " Try again in a moment.";
  switch (error.status) {
    case 0:
      return ["The gateway cannot be reached", "Check that it runs and that this machine is online, then try again."];
    case 401:
      return [
        "This key is not accepted",
        "It may be mistyped, revoked, or of another installation. Sign in with a valid key.",
      ];
    case 403:
      return [
        "This key lacks the right",
        `${sentence(error.detail)} Reading traces and texts needs the right to read.`,
      ];
    case 404:
      return [
        "Not found",
        "No such trace, or none that this key may see. What other tenants or spaces have is not told apart.",
      ];
    case 429:
      return ["Too many calls", `The planner is busy or the key has used up its rate.${wait}`];
    case 503:
      return error.code === "TRACE_PENDING"
        ? ["The trace is on its way", `It was recorded by another planner and has not arrived yet.${wait}`]
        : ["Not available just now", `${sentence(error.detail)}${wait}`];
    case 504:
      return ["That took too long", "The planner did not answer in time. Try again, or ask for less."];
    default:
      return ["That did not work", sentence(error.detail || `The gateway answered ${error.status}.`)];
  }
}

/** *text* with a capital letter and an end. */
export function sentence(text) {
  const said = String(text ?? "").trim();
  return said && `${said[0].toUpperCase()}${said.slice(1)}${/[.!?]$/.test(said) ? "" : "."}`;
}

/** *text* as a sentence that stands behind *name*, without that name at its head. */
export function behind(name, text) {
  const head = `${name}: `.toLowerCase();
  const said = String(text ?? "").trim();
  return sentence(said.toLowerCase().startsWith(head) ? said.slice(head.length) : said);
}
