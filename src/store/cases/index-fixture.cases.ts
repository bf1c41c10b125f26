/** Fixture of the index cases. */

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import type { Answers, Need } from "../../search/port.ts";
import type { Store } from "../store.ts";
import { treeOf } from "./fixture.cases.ts";
import { type GatePoint, gateFile, runTrivial } from "./trivial-index.cases.ts";

/** The answers to some needs, in one snapshot. */
export async function answersTo<const Needs extends readonly Need[]>(
  store: Store,
  tenant: string,
  ...needs: Needs
): Promise<{ [I in keyof Needs]: Answers[Needs[I]["need"]] }> {
  const { answers } = await runTrivial(store, tenant, { needs });
  return answers as { [I in keyof Needs]: Answers[Needs[I]["need"]] };
}

export async function answerTo<Kind extends Need["need"]>(
  store: Store,
  tenant: string,
  need: Extract<Need, { need: Kind }>,
): Promise<Answers[Kind]> {
  const [answer] = await answersTo(store, tenant, need);
  return answer as Answers[Kind];
}

/** The number of each existing session, by id. */
export async function sessionNumbers(store: Store, tenant: string): Promise<Map<string, number>> {
  const numbers = [...(await answerTo(store, tenant, { need: "scope", scope: {} }))];
  const requests = numbers.map((session) => ({ session, sequence: 1, before: 0, after: 0 }));
  const windows = await answerTo(store, tenant, { need: "windows", windows: requests });
  return new Map(windows.map((window, i) => [window?.head.sessionId ?? "", numbers[i] ?? 0]));
}

/** Every committed message with content, as `session#sequence`. */
export async function storedMessages(store: Store, tenant: string): Promise<string[]> {
  const numbers = await sessionNumbers(store, tenant);
  const names: string[] = [];
  for (const [id, number] of numbers) {
    for (const { kind, status, sequence, content } of await treeOf(store, tenant, id)) {
      const isFound = kind === "message" && status === "committed" && content !== null;
      if (isFound) names.push(`${number}#${sequence}`);
    }
  }
  return names.sort();
}

/** The index finds each message of each existing session once. */
export async function expectAgreement(
  store: Store,
  tenant: string,
  { degraded = false }: { readonly degraded?: boolean } = {},
): Promise<void> {
  const answer = await runTrivial(store, tenant);
  const found = answer.documents.map(({ session, sequence }) => `${session}#${sequence}`).sort();
  expect(found).toEqual(await storedMessages(store, tenant));
  expect(answer.degraded).toBe(degraded);
}

/** Runs `action`, which starts a maintenance step, and `meanwhile` while it waits at `point`. */
export async function holdAt<Result>(
  point: GatePoint,
  action: () => Promise<Result>,
  meanwhile: () => Promise<void>,
): Promise<Result> {
  const gate = gateFile();
  rmSync(`${gate}-reached`, { force: true });
  writeFileSync(gate, point);
  try {
    const running = action();
    let over = false;
    const done = running.then(
      () => {
        over = true;
      },
      () => {
        over = true;
      },
    );
    while (!over && !existsSync(`${gate}-reached`)) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(over, `it did not wait at "${point}"`).toBe(false);
    // Later callers pass.
    writeFileSync(gate, "held");
    await meanwhile();
    rmSync(gate);
    await done;
    return await running;
  } finally {
    rmSync(gate, { force: true });
  }
}
