import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PreparedFact } from "./prepare-facts.ts";
import {
  type DatedFact,
  type HeldFact,
  keyOf,
  normalize,
  reconcileFacts,
  settleAcross,
  settleFacts,
} from "./reconcile.ts";

/** `subject predicate object`, with `+` for many and `?` without a citation. */
function proposal(text: string): PreparedFact {
  const [subject = "", predicate = "", object = ""] = text.replace(/[+?]$/, "").split(" ");
  const sourceEntry = text.endsWith("?") ? null : "E1";
  return { subject, predicate, object, confidence: 0.9, sourceEntry, many: text.endsWith("+") };
}

/** Facts by id; superseded ones name their successor. */
class Facts {
  readonly all: (HeldFact & { by: string | null })[] = [];

  held(): HeldFact[] {
    return this.all.filter(({ by }) => by === null);
  }

  take(proposed: readonly PreparedFact[]): { duplicates: number; unsupported: number } {
    let next = this.all.length;
    const result = reconcileFacts(
      proposed,
      this.held(),
      () => `f${String(++next).padStart(3, "0")}`,
    );
    for (const { supersedes, ...fact } of result.added) {
      this.all.push({ ...fact, by: null });
      for (const id of supersedes) this.#find(id).by = fact.id;
    }
    return result;
  }

  #find(id: string): { by: string | null } {
    const fact = this.all.find((each) => each.id === id);
    if (fact === undefined) throw new Error(`there is no ${id}`);
    return fact;
  }
}

/** Each of `rounds` is one answer; `expected` shows all facts, superseded ones in brackets. */
function check(rounds: readonly (readonly string[])[], expected: string): void {
  const facts = new Facts();
  for (const round of rounds) facts.take(round.map(proposal));
  const shown = facts.all.map(({ subject, predicate, object, by }) => {
    const text = `${subject} ${predicate} ${object}`;
    return by === null ? text : `(${text})`;
  });
  expect(shown.join(", ")).toBe(expected);
}

describe("reconcileFacts", () => {
  test("does not add known facts, in any case and confidence", () => {
    check([["Ana likes tea"], ["ana LIKES Tea"], ["Ana likes tea"]], "Ana likes tea");
    check([["Ana lives_in Rome", "Ana lives-in rome"]], "Ana lives_in Rome");
  });

  test("supersedes changed facts, and keeps them as history", () => {
    check([["Ana city Rome"], ["Ana city Oslo"]], "(Ana city Rome), Ana city Oslo");
    check([["Ana city Rome", "Ana city Oslo"]], "(Ana city Rome), Ana city Oslo");
  });

  test("adds a former fact again", () => {
    check(
      [["Ana city Rome"], ["Ana city Oslo"], ["Ana city Rome"]],
      "(Ana city Rome), (Ana city Oslo), Ana city Rome",
    );
  });

  test("keeps several objects where many are allowed or exist", () => {
    check([["Ana speaks Dutch+"], ["Ana speaks Thai+"]], "Ana speaks Dutch, Ana speaks Thai");
    check(
      [["Ana speaks Dutch+", "Ana speaks Thai"], ["Ana speaks Urdu"]],
      "Ana speaks Dutch, Ana speaks Thai, Ana speaks Urdu",
    );
  });

  test("uncited proposals supersede no fact", () => {
    check([["Ana city Rome"], ["Ana city Oslo?"]], "Ana city Rome");
    check([["Ana city Oslo?"], ["Ana city Rome"]], "(Ana city Oslo), Ana city Rome");
  });

  test("reports the number of rejected proposals", () => {
    const facts = new Facts();
    facts.take([proposal("Ana city Rome")]);
    const result = facts.take(["Ana city rome", "Bo city Bonn?"].map(proposal));
    expect(result).toMatchObject({ duplicates: 1, unsupported: 0 });
    expect(facts.take([proposal("Ana city Nice?")])).toMatchObject({ unsupported: 1 });
  });
});

const word = (...words: string[]) => fc.constantFrom(...words);
const proposals: fc.Arbitrary<PreparedFact> = fc.record({
  subject: word("Ana", "ana", "Bo"),
  predicate: word("city", "likes"),
  object: word("Rome", "rome ", "Oslo", "Bonn"),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  sourceEntry: fc.option(fc.constant("E1")),
  many: fc.boolean(),
});

test("after any answers: no duplicates, all history has a successor, and repetition adds nothing", () => {
  const answers = fc.array(fc.array(proposals, { maxLength: 6 }), { maxLength: 6 });
  fc.assert(
    fc.property(answers, (rounds) => {
      const facts = new Facts();
      for (const round of rounds) {
        facts.take(round);
        const count = facts.all.length;
        facts.take(round);
        expect(facts.all).toHaveLength(count);
        const held = facts.held().map((fact) => `${keyOf(fact)}\0${normalize(fact.object)}`);
        expect(new Set(held).size).toBe(held.length);
      }
      const ids = new Set(facts.all.map(({ id }) => id));
      for (const { id, by } of facts.all) {
        if (by !== null) expect(ids.has(by) && by > id).toBe(true);
      }
    }),
  );
});

describe("settleFacts", () => {
  const fact = (id: string, object: string): HeldFact => ({
    id,
    subject: "Ana",
    predicate: "city",
    object,
  });

  test("of two concurrent facts the greater id stays, for every reader", () => {
    const held = [fact("1", "Rome"), fact("2", "rome"), fact("3", "Oslo")];
    const one = () => false;
    expect(settleFacts([fact("1", "Rome")], held.slice(0, 2), new Set(), one)).toEqual([
      { id: "1", by: "2" },
    ]);
    expect(settleFacts([fact("2", "rome")], held.slice(0, 2), new Set(), one)).toEqual([
      { id: "1", by: "2" },
    ]);
    expect(settleFacts([fact("3", "Oslo")], held, new Set(["1"]), one)).toEqual([
      { id: "2", by: "3" },
    ]);
  });

  test("where many are allowed, only duplicates are settled", () => {
    const held = [fact("1", "Rome"), fact("2", "rome"), fact("3", "Oslo")];
    expect(settleFacts([fact("1", "Rome")], held, new Set(), () => true)).toEqual([
      { id: "1", by: "2" },
    ]);
  });
});

describe("settleAcross", () => {
  /** `id: subject predicate object @time session`. */
  function dated(text: string): DatedFact {
    const [id = "", subject = "", predicate = "", object = "", at = "", sessionId = ""] =
      text.split(/[: @]+/);
    return { id, subject, predicate, object, saidAt: Number(at), sessionId };
  }
  const settled = (added: string[], others: string[], isMany = false) =>
    settleAcross(added.map(dated), others.map(dated), () => isMany).map(
      ({ id, by }) => `${id}>${by}`,
    );

  test("the fact that was said later supersedes those of other sessions", () => {
    expect(
      settled(["n: Ana city Oslo @5 s"], ["a: ana City Rome @1 a", "b: Ana city Bonn @2 b"]),
    ).toEqual(["a>n", "b>n"]);
    expect(settled(["n: Ana city Oslo @1 s"], ["a: Ana city Rome @5 a"])).toEqual(["n>a"]);
    // Between an older and a newer one.
    expect(
      settled(["n: Ana city Oslo @3 s"], ["b: Ana city Bonn @5 b", "a: Ana city Rome @1 a"]),
    ).toEqual(["a>n", "n>b"]);
  });

  test("equal statements are kept in both sessions, and several objects as they are", () => {
    expect(settled(["n: Ana city rome @5 s"], ["a: Ana city Rome @1 a"])).toEqual([]);
    expect(settled(["n: Ana city Oslo @5 s"], ["a: Bo city Rome @1 a"])).toEqual([]);
    expect(settled(["n: Ana likes tea @5 s"], ["a: Ana likes milk @1 a"], true)).toEqual([]);
    expect(
      settled(["n: Ana likes tea @5 s"], ["a: Ana likes milk @1 a", "b: Ana likes rum @2 a"]),
    ).toEqual([]);
  });
});
