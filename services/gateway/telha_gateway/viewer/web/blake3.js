/**
 * BLAKE3-256, as its specification defines it (hash mode, 32 bytes of output).
 *
 * The input is cut into chunks of 1,024 bytes, each a chain of 64-byte blocks; chunks are the leaves of a binary tree
 * whose left subtrees are complete. All words are little-endian and 32 bits wide.
 */

const BLOCK = 64;
const CHUNK = 1024;
const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;
const START = Uint32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
/** Which words each quarter of a round mixes: four columns, then four diagonals. */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];
const ROUNDS = 7;

/** The hash of *bytes*, 64 lower-case hexadecimal digits. */
export function blake3(bytes) {
  const root = tree(bytes, 0);
  const words = compress(root.chain, root.words, root.counter, root.length, root.flags | ROOT);
  return [...words]
    .flatMap((word) => [word & 255, (word >>> 8) & 255, (word >>> 16) & 255, word >>> 24])
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/** The last compression of the subtree over *bytes*, not yet carried out, since the root's has a flag of its own. */
function tree(bytes, firstChunk) {
  if (bytes.length <= CHUNK) return leaf(bytes, firstChunk);
  const chunks = Math.ceil(bytes.length / CHUNK);
  const left = 2 ** (Math.ceil(Math.log2(chunks)) - 1);
  const words = new Uint32Array(16);
  words.set(finished(tree(bytes.subarray(0, left * CHUNK), firstChunk)), 0);
  words.set(finished(tree(bytes.subarray(left * CHUNK), firstChunk + left)), 8);
  return { chain: START, words, counter: 0, length: BLOCK, flags: PARENT };
}

function leaf(bytes, chunk) {
  let chain = START;
  let begin = CHUNK_START;
  let at = 0;
  for (; bytes.length - at > BLOCK; at += BLOCK) {
    chain = compress(chain, wordsOf(bytes.subarray(at, at + BLOCK)), chunk, BLOCK, begin);
    begin = 0;
  }
  const last = bytes.subarray(at);
  return { chain, words: wordsOf(last), counter: chunk, length: last.length, flags: begin | CHUNK_END };
}

function finished({ chain, words, counter, length, flags }) {
  return compress(chain, words, counter, length, flags);
}

function compress(chain, block, counter, length, flags) {
  const state = new Uint32Array(16);
  state.set(chain, 0);
  state.set(START.subarray(0, 4), 8);
  state.set([counter >>> 0, Math.floor(counter / 2 ** 32), length, flags], 12);
  let words = block;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let quarter = 0; quarter < 8; quarter += 1) {
      mix(state, QUARTERS[quarter], words[2 * quarter], words[2 * quarter + 1]);
    }
    words = PERMUTATION.map((from) => words[from]);
  }
  return Uint32Array.from({ length: 8 }, (_, at) => state[at] ^ state[at + 8]);
}

function mix(state, [a, b, c, d], first, second) {
  state[a] = state[a] + state[b] + first;
  state[d] = turned(state[d] ^ state[a], 16);
  state[c] = state[c] + state[d];
  state[b] = turned(state[b] ^ state[c], 12);
  state[a] = state[a] + state[b] + second;
  state[d] = turned(state[d] ^ state[a], 8);
  state[c] = state[c] + state[d];
  state[b] = turned(state[b] ^ state[c], 7);
}

function turned(word, by) {
  return (word >>> by) | (word << (32 - by));
}

function wordsOf(bytes) {
  const whole = new Uint8Array(BLOCK);
  whole.set(bytes);
  const view = new DataView(whole.buffer);
  return Uint32Array.from({ length: 16 }, (_, at) => view.getUint32(4 * at, true));
}
