/** A unified diff of two texts (`diff -u`). */

const CONTEXT = 2;
/** More lines than this are shown as replaced: comparing them takes too long. */
const MAX_COMPARED = 2_000;

type Line = readonly [mark: " " | "+" | "-", text: string];

/** A line diff with ` `, `+` and `-`; `…` stands for equal lines. */
export function diffLines(before: string, after: string): string[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < Math.min(a.length, b.length) - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) {
    tail++;
  }
  const same = (lines: readonly string[]) => lines.map((line): Line => [" ", line]);
  const all: Line[] = [
    ...same(a.slice(0, head)),
    ...compare(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ];
  return withContext(all);
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** By the longest common subsequence. */
function compare(a: readonly string[], b: readonly string[]): Line[] {
  if (a.length > MAX_COMPARED || b.length > MAX_COMPARED) {
    return [...a.map((line): Line => ["-", line]), ...b.map((line): Line => ["+", line])];
  }
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => length[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([" ", a[i++] ?? ""]);
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(["-", a[i++] ?? ""]);
    } else lines.push(["+", b[j++] ?? ""]);
  }
  return lines;
}

function withContext(lines: readonly Line[]): string[] {
  const changed = lines.flatMap(([mark], i) => (mark === " " ? [] : [i]));
  const near = new Set(
    changed.flatMap((i) => Array.from({ length: 2 * CONTEXT + 1 }, (_, k) => i - CONTEXT + k)),
  );
  return lines.flatMap(([mark, text], i) => {
    if (near.has(i)) return [`${mark} ${text}`];
    return i > 0 && near.has(i - 1) && i < lines.length - 1 ? ["  …"] : [];
  });
}
