/**
 * Figures of a ranking against its evidence, as the benchmarks define them: `recall_any`,
 * `recall_all` and `ndcg_any` are those of LongMemEval's `eval_utils.py`.
 */

/** By name of the figure, from 0 to 1; a figure that a question does not have is left out. */
export type QuestionFigures = Readonly<Record<string, number>>;

/** The share of `evidence` among the first `k`. */
export function recallAt(
  ranking: readonly string[],
  evidence: ReadonlySet<string>,
  k: number,
): number {
  const found = new Set(ranking.slice(0, k).filter((id) => evidence.has(id)));
  return found.size / evidence.size;
}

/** 1 if any of `evidence` is among the first `k`. */
export function recallAny(
  ranking: readonly string[],
  evidence: ReadonlySet<string>,
  k: number,
): number {
  return recallAt(ranking, evidence, k) > 0 ? 1 : 0;
}

/** 1 if all of `evidence` is among the first `k`. */
export function recallAll(
  ranking: readonly string[],
  evidence: ReadonlySet<string>,
  k: number,
): number {
  return recallAt(ranking, evidence, k) === 1 ? 1 : 0;
}

/** Binary gains. The official discount does not tell the second rank from the first. */
export function ndcg(ranking: readonly string[], evidence: ReadonlySet<string>, k: number): number {
  const discount = (index: number) => (index === 0 ? 1 : 1 / Math.log2(index + 1));
  const gains = ranking.slice(0, k).map((id, i) => (evidence.has(id) ? discount(i) : 0));
  const ideal = Array.from({ length: Math.min(evidence.size, k) }, (_, i) => discount(i));
  return sum(gains) / sum(ideal);
}

/** `recall_any`, `recall_all` and NDCG at 5 and 10, and `hit@1`, which is `recall_any@1`. */
export function officialFigures(
  ranking: readonly string[],
  evidence: ReadonlySet<string>,
): QuestionFigures {
  return {
    "hit@1": recallAny(ranking, evidence, 1),
    "any@5": recallAny(ranking, evidence, 5),
    "any@10": recallAny(ranking, evidence, 10),
    "all@5": recallAll(ranking, evidence, 5),
    "all@10": recallAll(ranking, evidence, 10),
    "ndcg@5": ndcg(ranking, evidence, 5),
    "ndcg@10": ndcg(ranking, evidence, 10),
  };
}

/** 1 if the best of `updated` is found and ranks above all of `outdated`. */
export function isUpdatedFirst(
  ranking: readonly string[],
  updated: readonly string[],
  outdated: readonly string[],
): number {
  const best = ranking.find((id) => updated.includes(id) || outdated.includes(id));
  return best !== undefined && updated.includes(best) && !outdated.includes(best) ? 1 : 0;
}

/** Means by group of questions, in percent. */
export class Tally {
  readonly #groups = new Map<string, { questions: number; figures: Map<string, number[]> }>();

  add(groups: readonly string[], figures: QuestionFigures): void {
    for (const name of groups) {
      const group = this.#groups.get(name) ?? { questions: 0, figures: new Map() };
      this.#groups.set(name, group);
      group.questions += 1;
      for (const [figure, value] of Object.entries(figures)) {
        const values = group.figures.get(figure) ?? [];
        group.figures.set(figure, values);
        values.push(value);
      }
    }
  }

  /** All, then sizes, then the others in the order in which they were seen. */
  get groups(): string[] {
    const place = (name: string) => (name === "all" ? 0 : /^\d/.test(name) ? 1 : 2);
    return [...this.#groups.keys()].sort((a, b) => place(a) - place(b));
  }

  questions(group: string): number {
    return this.#groups.get(group)?.questions ?? 0;
  }

  percents(group: string): Record<string, number> {
    const figures = this.#groups.get(group)?.figures ?? new Map<string, number[]>();
    return Object.fromEntries(
      [...figures].map(([name, values]) => [name, (100 * sum(values)) / values.length]),
    );
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
