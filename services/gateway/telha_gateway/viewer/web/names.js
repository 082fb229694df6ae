/** Names of sources for rows that have none: a record holds ids alone. */

import { ask, Refusal } from "./api.js";

const MOST = 40;
const AT_ONCE = 2;

/**
 * *rows* with the names of their sources, as far as this key may read them; those of the first 40 sources.
 *
 * A source that is gone, or not the key's, keeps an empty name.
 */
export async function nameSources(rows, signal) {
  const names = await namesOf(
    rows.map((row) => row.place),
    signal,
  );
  return rows.map((row) => ({ ...row, name: names.get(row.place.sourceId) ?? row.name }));
}

/** Names of the sources of *places*, by id, on the same terms. */
export async function namesOf(places, signal) {
  const versions = new Map(places.map((place) => [place.sourceId, place.sourceVersionTx]));
  const left = [...versions].slice(0, MOST);
  const names = new Map();
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return names;

  async function worker() {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [id, version] = next;
      try {
        names.set(id, (await ask(`v1/memory/sources/${encodeURIComponent(id)}?version=${version}`, { signal })).name);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
  }
}
