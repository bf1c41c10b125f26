import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import type { Rule } from "../../model/note.ts";
import { MAX_CANDIDATES } from "./find-candidates.ts";
import { openCandidates } from "./offer-rules.ts";

function candidate(text: string, i: number): Rule {
  const place = { project: "/shop", owner: null, replaces: null };
  const source = { sessionId: "s", sourceEntry: `e${i}`, source: `s#${i}` };
  return { id: `e${i}-1`, text, status: "candidate", ...place, ...source, saidAt: 1_000 - i };
}

test("many candidates are compared in little time", () => {
  const letters = (i: number) =>
    [...String(i)].map((digit) => "bcdfghjklm"[Number(digit)]).join("");
  const many = Array.from({ length: MAX_CANDIDATES }, (_, i) =>
    candidate(`Always include the a${letters(i)}a and o${letters(7 * i)}o files.`, i),
  );
  let open: readonly Rule[] = [];
  const ms = cpuMs(() => {
    open = openCandidates(many, []);
  });
  expect(ms).toBeLessThan(500);
  expect(open).toHaveLength(MAX_CANDIDATES);
});
