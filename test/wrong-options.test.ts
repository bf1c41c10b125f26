/** A value of the wrong kind is refused for every option of every call; the error names the option. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  BackscrollError,
  type Engine,
  type MessageStream,
  open,
  type SessionHandle,
} from "../src/index.ts";
import { INPUTS } from "../src/model/inputs/index.ts";
import type { Kind, KindName } from "../src/model/inputs/kinds.ts";
import { callsOf, type InputName } from "./support/unknown-calls.ts";

const PROBES = {
  no: "no",
  "30s": "30s",
  empty: "",
  zero: 0,
  minus: -1,
  half: 0.5,
  huge: Number.POSITIVE_INFINITY,
  nan: Number.NaN,
  null: null,
  true: true,
  false: false,
  object: {},
  map: new Map(),
  list: [],
  numbers: [5],
  function: () => undefined,
  bigint: 1n,
  date: new Date(Number.NaN),
} as const;

type Probe = keyof typeof PROBES;
const ALL = Object.keys(PROBES) as Probe[];

/** The probes that each kind of option takes. */
const TAKEN: Readonly<Record<KindName, readonly Probe[]>> = {
  any: ALL,
  null: ["null"],
  false: ["false"],
  flag: ["true", "false"],
  text: ["no", "30s", "empty"],
  key: ["no", "30s", "empty"],
  name: ["no", "30s"],
  texts: ["list"],
  list: ["list", "numbers"],
  bytes: [],
  chunks: ["list", "numbers", "map"],
  count: ["zero"],
  positive: [],
  number: ["zero", "half"],
  share: ["zero", "half"],
  ms: ["zero", "half"],
  seconds: [],
  port: ["zero"],
  time: ["zero"],
  callback: ["function"],
  class: ["function"],
  signal: [],
  object: ["object"],
  instance: ["object", "map", "date"],
};

/** Options that take any value: JSON of the caller. A new one is a decision. */
const ANYTHING = [
  "append raw",
  "append.toolCalls arguments",
  "append.toolCalls input",
  "appendEntries.custom data",
  "compareAndSetRecord value",
  "putRecord value",
  "writeRecords.put value",
];

const OPTIONS = Object.entries(INPUTS).flatMap(([name, table]) =>
  Object.entries(table).map(([field, kind]) => ({ name: name as InputName, field, kind })),
);

test("only JSON of the caller is taken whatever its kind", () => {
  const taken = OPTIONS.filter(({ kind }) => String(kind).split("|").includes("any"));
  expect(taken.map(({ name, field }) => `${name} ${field}`).sort()).toEqual(ANYTHING);
});

describe("the library", () => {
  let engine: Engine;
  let session: SessionHandle;
  let entryId: string;
  let stream: MessageStream;

  beforeAll(async () => {
    engine = await open(":memory:");
    session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
    entryId = (await session.append({ role: "user", content: "first" })).id;
    stream = await session.openMessage({ role: "assistant" });
  });
  afterAll(() => engine.close());

  test.each(Object.keys(INPUTS) as InputName[])(
    "refuses every option of %s that has a value of the wrong kind",
    async (name) => {
      const before = (await engine.listChanges({ after: "end" })).next;
      const call = callsOf(engine, session, entryId, stream)[name] as (input: object) => unknown;
      const wrong: string[] = [];
      for (const { field, kind } of OPTIONS.filter((option) => option.name === name)) {
        for (const probe of ALL.filter((each) => !takenBy(kind).includes(each))) {
          const error = await refusal(() => call({ [field]: PROBES[probe] }));
          const [code, named] = [error?.code, String(error?.details["field"])];
          const isNamed = named === field || named.endsWith(`.${field}`);
          if (code !== "invalid_input" || !isNamed)
            wrong.push(`${field} ${probe}: ${code} ${named}`);
        }
      }
      expect(wrong).toEqual([]);
      expect((await engine.listChanges({ after: "end" })).next).toBe(before);
    },
  );
});

function takenBy(kind: Kind): readonly Probe[] {
  if (typeof kind === "string") {
    return kind
      .replace("!", "")
      .split("|")
      .flatMap((name) => TAKEN[name as KindName]);
  }
  const { or } = kind as { readonly or?: KindName };
  return typeof or === "string" ? TAKEN[or] : [];
}

async function refusal(call: () => unknown): Promise<BackscrollError | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (BackscrollError.is(error)) return error;
    throw error;
  }
}
