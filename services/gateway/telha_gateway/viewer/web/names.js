/** Names of sources for rows that have none: a record holds ids alone. */

import { ask, Refusal } from "./api.js";

const MOST = 40;
const AT_ONCE = 6;

/**
 * *rows* with the names of their sources, as far as this key may read them; those of the first 40 sources.
 *
 * A source that is gone, or not the key's, keeps an empty name.
 */
export async function nameSources(rows, signal) {
  const ids = [...new Set(rows.map((row) => row.place.sourceId))].slice(0, MOST);
  const names = new Map();
  const left = [...ids];
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return rows.map((row) => ({ ...row, name: names.get(row.place.sourceId) ?? row.name }));

  async function worker() {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const version = rows.find((row) => row.place.sourceId === id).place.sourceVersionTx;
      try {
        names.set(id, (await ask(`v1/memory/sources/${encodeURIComponent(id)}?version=${version}`, { signal })).name);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
  }
}
