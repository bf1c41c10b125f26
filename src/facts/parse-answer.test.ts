import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "../../test/support/cpu-time.ts";
import { parseFacts, saysNothing } from "./model-extractor.ts";

const LINE = '{"subject": "Ana", "predicate": "lives in", "object": "Lisbon", "entry": 3}';
const ANA = "Ana|lives in|Lisbon";

/** The parsed facts, and the number of malformed ones. */
function check(answer: string, facts: string[], unread = 0): void {
  const parsed = parseFacts(answer);
  const shown = parsed.facts.map((fact) => `${fact.subject}|${fact.predicate}|${fact.object}`);
  expect([shown, parsed.unread]).toEqual([facts, unread]);
}

describe("parseFacts reads", () => {
  test("a list, lines, one object, and a list under a name", () => {
    check(`[${LINE}, ${LINE}]`, [ANA, ANA]);
    check(`${LINE}\n${LINE}\n`, [ANA, ANA]);
    check(LINE, [ANA]);
    check(`{"facts": [${LINE}]}`, [ANA]);
    check(`{"note": "one found", "items": [[${LINE}]]}`.replace("[[", "[").replace("]]", "]"), [
      ANA,
    ]);
  });

  test("JSON in code fences and between sentences", () => {
    check(`Here are the facts (see [the rules]):\n\`\`\`json\n[\n${LINE}\n]\n\`\`\`\nDone!`, [ANA]);
  });

  test("lists with a trailing comma, and strings that look like it", () => {
    check(`[${LINE.replace("}", ",}")},]`, [ANA]);
    check(`[{"subject": "a,]", "predicate": "b,}", "object": "c \\" ]",},]`, ['a,]|b,}|c " ]']);
  });

  test("the complete part of a truncated answer", () => {
    check(`[${LINE}, ${LINE}, {"subject": "Bo", "pred`, [ANA, ANA], 1);
  });

  test("and counts malformed facts", () => {
    check(`[${LINE}, {"subject": "Bo"}, "Ana lives", 7]`, [ANA], 3);
    check('[{"subject": "", "predicate": "p", "object": "o"}]', [], 1);
    check(`{"subject": "${"x".repeat(5_000)}", "predicate": "p", "object": "o"}`, [], 1);
    check("I am sorry, I cannot do that.", []);
  });

  test("numbers as text, and texts on one line without control characters", () => {
    check('{"subject": "a\\u0000b", "predicate": "x\\n y", "object": 42}', ["a b|x y|42"]);
    check('{"subject": "\\ud800", "predicate": "p", "object": true}', ["\ufffd|p|true"]);
  });
});

test("confidence as a share, in any notation", () => {
  const read = (confidence: string) =>
    parseFacts(LINE.replace("}", `, "confidence": ${confidence}}`)).facts[0]?.confidence;
  expect(["0.4", '"0.4"', "85", '"high"', "-1", "1000", "null"].map(read)).toEqual([
    0.4, 0.4, 0.85, 0.9, 0, 1, 0.7,
  ]);
});

test("entries are named in several ways", () => {
  const read = (entry: string) => parseFacts(LINE.replace("3", entry)).facts[0]?.entryId;
  expect(["3", '"3"', '"[3]"', '["#3"]', "null", "{}"].map(read)).toEqual([
    "3",
    "3",
    "3",
    "3",
    null,
    null,
  ]);
});

test("an empty list as an answer; prose as none", () => {
  for (const answer of ["[]", "```json\n[]\n```", '{"facts": []}', "No facts: []", "{}"]) {
    expect(saysNothing(answer)).toBe(true);
  }
  for (const answer of ["", "none", LINE, "[", '{"a": 1}']) expect(saysNothing(answer)).toBe(false);
});

describe("for any answer", () => {
  const statement = fc.string({ minLength: 1, maxLength: 20 }).map((text) => `x${text}`);
  const fact = fc.record({ subject: statement, predicate: statement, object: statement });

  test("all valid facts are found", () => {
    const prose = fc.string({ unit: fc.constantFrom(..."abc .,:!\n`") });
    const around = fc.tuple(fc.array(fact, { minLength: 1, maxLength: 5 }), prose, prose);
    fc.assert(
      fc.property(around, fc.boolean(), ([facts, before, after], lines) => {
        const json = facts.map((each) => JSON.stringify(each));
        const body = lines ? json.join("\n") : `[${json.join(",\n")},]`;
        expect(parseFacts(`${before}${body}${after}`).facts).toHaveLength(facts.length);
      }),
    );
  });

  test("parsing throws nothing and takes linear time", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'[]{}",:\\ a1') }), (text) => {
        expect(parseFacts(text).unread).toBeGreaterThanOrEqual(0);
      }),
    );
    const cost = cpuMs(() => {
      for (const piece of ["[", "{", '{"', "[]", '{"a":', '"', "{}"]) {
        parseFacts(piece.repeat(50_000));
      }
    });
    expect(cost).toBeLessThan(5_000);
  });
});
