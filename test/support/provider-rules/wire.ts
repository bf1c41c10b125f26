/**
 * Shared parts of the providers' checkers.
 *
 * They check the serialised JSON, parsed again, without our types. A broken rule is reported as a
 * sentence.
 */

export type Wire = Readonly<Record<string, unknown>>;

/** Notes `sentence` unless `holds`. */
export type Expect = (holds: boolean, sentence: string) => void;

/** Runs `check` over `rendered` as JSON. Gives the broken rules. */
export function violations(
  rendered: unknown,
  check: (context: Wire, expect: Expect) => void,
): string[] {
  const found: string[] = [];
  const expect: Expect = (holds, sentence) => {
    if (!holds) found.push(sentence);
  };
  const context = JSON.parse(JSON.stringify(rendered)) as Wire;
  expect(isSame(rendered, context), "the context is not JSON");
  expect(
    stringsIn(context).every((text) => text.isWellFormed()),
    "a string has half a surrogate pair",
  );
  check(context, expect);
  return found;
}

/** Every string in `value`, keys included, in order. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...stringsIn(member)]);
}

export function objects(value: unknown): Wire[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function isObject(value: unknown): value is Wire {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function isBlank(value: unknown): boolean {
  return string(value).trim() === "";
}

export function isBase64(value: unknown): boolean {
  const text = string(value);
  return text !== "" && Buffer.from(text, "base64").toString("base64") === text;
}

export function isImageAddress(value: unknown): boolean {
  const text = string(value);
  const [, data] = /^data:image\/(?:png|jpeg|gif|webp);base64,(.*)$/s.exec(text) ?? [];
  return data === undefined ? /^https?:\/\//.test(text) : isBase64(data);
}

/** Expects each id once, and that it matches `pattern`. */
export function expectIds(ids: readonly unknown[], pattern: RegExp, expect: Expect): void {
  for (const id of ids) {
    expect(pattern.test(string(id)), `the id ${JSON.stringify(id)} does not match ${pattern}`);
  }
  expect(new Set(ids).size === ids.length, `an id is used twice: ${JSON.stringify(ids)}`);
}

/** Expects `results` to answer `calls`, each once and no other. */
export function expectAnswers(
  calls: readonly unknown[],
  results: readonly unknown[],
  expect: Expect,
): void {
  const sorted = (ids: readonly unknown[]) => JSON.stringify(ids.map(string).sort());
  expect(sorted(calls) === sorted(results), `calls ${sorted(calls)}, results ${sorted(results)}`);
}

/** Whether the JSON round-trips: no `undefined`, no `NaN`, no class. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  }
  if (!isObject(a)) return a === b;
  if (!isObject(b) || Object.getPrototypeOf(a) !== Object.prototype) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isSame(a[key], b[key]));
}
