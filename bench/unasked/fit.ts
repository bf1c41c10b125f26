/** A logistic sum, fitted by Newton's method on scaled figures. */

export interface Example {
  readonly figures: Readonly<Record<string, number>>;
  readonly right: boolean;
}

export interface Fitted {
  readonly base: number;
  readonly weights: Readonly<Record<string, number>>;
}

const RIDGE = 1;
/** The base is not held back; this keeps the matrix regular. */
const LEAST = 1e-6;
const STEPS = 40;

export function fitSum(examples: readonly Example[], names: readonly string[]): Fitted {
  const scale = names.map((name) => {
    const values = examples.map(({ figures }) => figures[name] ?? 0);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const spread = Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length);
    return { mean, spread: spread || 1 };
  });
  const rows = examples.map(({ figures }) => [
    1,
    ...names.map((name, i) => ((figures[name] ?? 0) - at(scale, i).mean) / at(scale, i).spread),
  ]);
  let beta = names.map(() => 0).concat(0);
  for (let step = 0; step < STEPS; step++) {
    const gradient = beta.map((value, i) => (i === 0 ? 0 : -RIDGE * value));
    const hessian: number[][] = beta.map((_, i) =>
      beta.map((__, j) => (i !== j ? 0 : i === 0 ? LEAST : RIDGE)),
    );
    for (const [k, row] of rows.entries()) {
      const p = 1 / (1 + Math.exp(-dot(beta, row)));
      const error = Number(at(examples, k).right) - p;
      for (const [i, x] of row.entries()) {
        gradient[i] = at(gradient, i) + error * x;
        for (const [j, y] of row.entries())
          at(hessian, i)[j] = at(at(hessian, i), j) + p * (1 - p) * x * y;
      }
    }
    const change = solve(hessian, gradient);
    beta = beta.map((value, i) => value + at(change, i));
  }
  const weights = names.map((_, i) => at(beta, i + 1) / at(scale, i).spread);
  const base =
    at(beta, 0) - weights.reduce((sum, weight, i) => sum + weight * at(scale, i).mean, 0);
  return { base, weights: Object.fromEntries(names.map((name, i) => [name, at(weights, i)])) };
}

export function scoreBy(
  { base, weights }: Fitted,
  figures: Readonly<Record<string, number>>,
): number {
  return Object.entries(weights).reduce(
    (sum, [name, weight]) => sum + weight * (figures[name] ?? 0),
    base,
  );
}

function at<Item>(items: readonly Item[], i: number): Item {
  return items[i] as Item;
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * at(b, i), 0);
}

/** Gaussian elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, at(right, i)]);
  const size = rows.length;
  for (let i = 0; i < size; i++) {
    let pivot = i;
    for (let k = i + 1; k < size; k++) {
      if (Math.abs(at(at(rows, k), i)) > Math.abs(at(at(rows, pivot), i))) pivot = k;
    }
    [rows[i], rows[pivot]] = [at(rows, pivot), at(rows, i)];
    for (let k = 0; k < size; k++) {
      if (k === i) continue;
      const factor = at(at(rows, k), i) / at(at(rows, i), i);
      for (let j = i; j <= size; j++)
        at(rows, k)[j] = at(at(rows, k), j) - factor * at(at(rows, i), j);
    }
  }
  return rows.map((row, i) => at(row, size) / at(row, i));
}
