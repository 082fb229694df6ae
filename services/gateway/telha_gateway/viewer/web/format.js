/** Numbers and times as people read them. */

const WHOLE = new Intl.NumberFormat("en-GB");
/** One way for all times, and the planner's own: UTC, and saying so. */
const SPOKEN = new Intl.DateTimeFormat("en-GB", {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZone: "UTC",
  timeZoneName: "short",
});
const RFC3339 = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z/g;
const AGO = new Intl.RelativeTimeFormat("en-GB", { numeric: "auto" });
const STEPS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
/** Instants beyond what a `Date` holds, in ms. */
const FARTHEST = 8.64e15;

/** 12,345. */
export function whole(number) {
  return WHOLE.format(number);
}

/** "1 span", "2 spans". */
export function counted(number, noun, plural = `${noun}s`) {
  return `${whole(number)} ${Number(number) === 1 ? noun : plural}`;
}

/** A weight or score: four significant digits, small ones in scientific notation. */
export function score(number) {
  if (typeof number !== "number" || !Number.isFinite(number)) return String(number ?? "–");
  if (number === 0 || number === 1) return String(number);
  return Math.abs(number) < 0.001 ? number.toExponential(2) : number.toPrecision(4);
}

/** 0.4173 as "42%". */
export function percent(share) {
  return Number.isFinite(share) ? `${Math.round(share * 100)}%` : "–";
}

/** µs since 1970 UTC as a date and time, with its zone. */
export function moment(us) {
  const ms = Number(us) / 1000;
  return Math.abs(ms) > FARTHEST ? `${us} µs` : SPOKEN.format(ms);
}

/** *text* with its instants in RFC 3339 as `moment` shows them, and what they have below a second. */
export function withMoments(text) {
  return String(text).replace(RFC3339, (_, seconds, below = "") =>
    SPOKEN.format(Date.parse(`${seconds}Z`)).replace(/ UTC$/, `${below} UTC`),
  );
}

/** µs since 1970 UTC in RFC 3339, UTC, all six digits. */
export function rfc3339(us) {
  const ms = Number(us) / 1000;
  if (Math.abs(ms) > FARTHEST) return `${us} µs`;
  const below = ((Number(us) % 1000) + 1000) % 1000;
  return new Date(Math.floor(ms)).toISOString().replace("Z", `${String(below).padStart(3, "0")}Z`);
}

/** µs since 1970 UTC as "3 minutes ago". */
export function ago(us, nowMs = Date.now()) {
  const seconds = (Number(us) / 1000 - nowMs) / 1000;
  const [unit, size] = STEPS.find(([, least]) => Math.abs(seconds) >= least) ?? ["second", 1];
  return AGO.format(Math.round(seconds / size), unit);
}

/** Both ends of an id, for where the whole does not fit. */
export function short(id) {
  return `${String(id).slice(0, 8)}…${String(id).slice(-4)}`;
}
