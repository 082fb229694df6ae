/** The plan hash, recomputed from what a trace holds: docs/plan-hash.md, byte by byte. */

import { blake3 } from "./blake3.js";

const UTF8 = new TextEncoder();
const CLASSES = { truth: 0, cache: 1 };
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * `b3:` and the hash of a plan.
 *
 * @param {{planModel: string, budget: number|string, used: number|string, spans: object[]}} plan Spans as REST shows
 *   them, `{span, kind, class, weight, tokens}`, in any order.
 * @throws {RangeError} It has a class, a number or an id that the layout cannot hold.
 */
export function planHash(plan) {
  return `b3:${blake3(canonicalBytes(plan))}`;
}

/** The bytes that are hashed. */
export function canonicalBytes({ planModel, budget, used, spans }) {
  if (planModel !== "v1") throw new RangeError(`this page knows plan model v1, not ${planModel}`);
  const bytes = new Bytes();
  bytes.text(planModel);
  bytes.u64(budget);
  bytes.u64(used);
  bytes.u64(spans.length);
  for (const { span, kind, class: spanClass, weight, tokens } of [...spans].sort(canonically)) {
    if (!ID.test(span.sourceId)) throw new RangeError("a source id is no UUID");
    if (!(spanClass in CLASSES)) throw new RangeError(`no such class: ${spanClass}`);
    bytes.hex(span.sourceId.replaceAll("-", ""));
    bytes.i64(span.sourceVersionTx);
    bytes.u64(span.start);
    bytes.u64(span.end);
    bytes.text(kind);
    bytes.u8(CLASSES[spanClass]);
    bytes.f64(weight);
    bytes.u64(tokens);
  }
  return bytes.joined();
}

/** The parts of the hash, out of a trace's record. */
export function planOf(record) {
  const { item_coords: coords, item_facts: facts, budget, plan_model: planModel } = record;
  if (!Array.isArray(coords) || !Array.isArray(facts) || coords.length !== facts.length || !budget) {
    throw new RangeError("the record does not hold all that the hash covers");
  }
  return {
    planModel,
    budget: budget.applied,
    used: budget.used,
    spans: coords.map(([sourceId, sourceVersionTx, start, end], at) => {
      const [kind, spanClass, weight, tokens] = facts[at];
      const name = Object.keys(CLASSES).find((each) => CLASSES[each] === spanClass);
      return { span: { sourceId, sourceVersionTx, start, end }, kind, class: name, weight, tokens };
    }),
  };
}

/** By source id, version, start and end; numbers as numbers, however large. */
function canonically(a, b) {
  const [x, y] = [a.span, b.span];
  if (x.sourceId !== y.sourceId) return x.sourceId < y.sourceId ? -1 : 1;
  for (const name of ["sourceVersionTx", "start", "end"]) {
    const [one, other] = [BigInt(x[name]), BigInt(y[name])];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/** Fields of fixed width, big-endian, one after the other. */
class Bytes {
  #parts = [];

  u8(value) {
    this.#parts.push(Uint8Array.of(value));
  }

  u64(value) {
    const number = BigInt(value);
    if (BigInt.asUintN(64, number) !== number) throw new RangeError(`${value} is no unsigned 64-bit number`);
    this.#eight((view) => view.setBigUint64(0, number));
  }

  i64(value) {
    const number = BigInt(value);
    if (BigInt.asIntN(64, number) !== number) throw new RangeError(`${value} is no 64-bit number`);
    this.#eight((view) => view.setBigInt64(0, number));
  }

  f64(value) {
    if (typeof value !== "number") throw new RangeError(`${value} is no number`);
    this.#eight((view) => view.setFloat64(0, value));
  }

  /** UTF-8 behind its length in 4 bytes. */
  text(value) {
    const encoded = UTF8.encode(value);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, encoded.length);
    this.#parts.push(length, encoded);
  }

  hex(digits) {
    this.#parts.push(Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16)));
  }

  joined() {
    const whole = new Uint8Array(this.#parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  #eight(write) {
    const part = new Uint8Array(8);
    write(new DataView(part.buffer));
    this.#parts.push(part);
  }
}
