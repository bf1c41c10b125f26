/**
 * A fast hash of foreign JSON, to tell two records of the same id apart.
 *
 * Not cryptographic: of a long text it takes the length, the beginning, the middle and the end, and of
 * a very large value the first nodes. So its time does not grow with the length of texts.
 */

/** Characters of each sample of a text. */
const SAMPLE = 32;
const MAX_NODES = 4_096;

/** A safe integer. */
export function fingerprint(value: unknown): number {
  const state = { low: 0x811c9dc5, high: 0x9e3779b1, nodes: 0 };
  add(state, value);
  return (state.high >>> 11) * 2 ** 32 + (state.low >>> 0);
}

interface State {
  low: number;
  high: number;
  nodes: number;
}

function mix(state: State, number: number): void {
  state.low = Math.imul(state.low ^ number, 0x01000193);
  state.high = Math.imul(state.high ^ (number + (state.low >>> 15)), 0x85ebca6b);
}

function add(state: State, value: unknown): void {
  if (++state.nodes > MAX_NODES) return;
  if (typeof value === "string") addText(state, value);
  else if (typeof value !== "object" || value === null) addText(state, `\0${value}`);
  else if (Array.isArray(value)) {
    mix(state, value.length);
    for (const each of value) add(state, each);
  } else {
    for (const name in value) {
      addText(state, name);
      add(state, (value as Record<string, unknown>)[name]);
    }
    mix(state, 1);
  }
}

function addText(state: State, text: string): void {
  const { length } = text;
  mix(state, length);
  const whole = length <= 3 * SAMPLE;
  const starts = whole ? [0] : [0, (length - SAMPLE) >> 1, length - SAMPLE];
  for (const from of starts) addRange(state, text, from, whole ? length : from + SAMPLE);
}

function addRange(state: State, text: string, from: number, to: number): void {
  for (let i = from; i < to; i++) mix(state, text.charCodeAt(i));
}

/**
 * Whether an id was masked, as `[REDACTED]` or `ses_***`: then it identifies nothing. Agents use none
 * of these characters in ids.
 */
export function isMasked(id: string): boolean {
  return /[[\]<>*]/.test(id);
}
