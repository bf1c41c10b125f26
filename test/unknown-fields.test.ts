/** An unknown field of an input is refused everywhere, with the nearest known name. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { fromWireName } from "../src/api/wire.ts";
import {
  BackscrollError,
  type Engine,
  type MessageStream,
  open,
  type SessionHandle,
} from "../src/index.ts";
import { TOOLS } from "../src/mcp/tools/index.ts";
import { INPUTS } from "../src/model/inputs/index.ts";
import { ROUTES } from "../src/server/routes/index.ts";
import { callsOf, type InputName } from "./support/unknown-calls.ts";

const NAMES = Object.keys(INPUTS) as InputName[];

function fieldsOf(name: InputName): string[] {
  return Object.keys(INPUTS[name]);
}

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

  async function refusal(name: InputName, input: object): Promise<BackscrollError> {
    const call = callsOf(engine, session, entryId, stream)[name] as (input: object) => unknown;
    const outcome = await (async () => call(input))().catch((error: unknown) => error);
    if (BackscrollError.is(outcome)) return outcome;
    throw new Error(`${name} took ${JSON.stringify(input)}`, { cause: outcome });
  }

  test.each(NAMES)("refuses an unknown field of %s, without effect", async (name) => {
    const before = await held(engine);
    const error = await refusal(name, { xyzzy: undefined });
    expect(error.code).toBe("invalid_input");
    expect(error.message).toMatch(/has no field "xyzzy"; it may have \w+/);
    expect(error.details).toEqual({ field: "xyzzy" });
    expect(await held(engine)).toEqual(before);
  });

  test.each(NAMES)("suggests the intended field of %s", async (name) => {
    for (const field of fieldsOf(name)) {
      for (const misspelt of misspellings(field, fieldsOf(name))) {
        const error = await refusal(name, { [misspelt]: 1 });
        expect(error.details, misspelt).toEqual({ field: misspelt, nearest: field });
        expect(error.message).toContain(`has no field "${misspelt}"; did you mean ${field}?`);
      }
    }
  });

  test.each([
    ["append", "tool_calls", "toolCalls"],
    ["searchSessions", "agentId", "agent"],
    ["createSession", "ttlSeconds", "ttl"],
    ["createSession", "created_by", "createdBy"],
    ["compact", "keepMessages", "keep"],
  ] as const)("%s with %s means %s", async (name, field, nearest) => {
    expect((await refusal(name, { [field]: 1 })).details).toEqual({ field, nearest });
  });
});

/** The feed position of the tenant. */
async function held(engine: Engine): Promise<unknown> {
  return (await engine.listChanges({ after: "end" })).next;
}

/** Misspellings: snake_case, and a doubled letter. */
function misspellings(field: string, known: readonly string[]): string[] {
  const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return [snake, `${field}${field.at(-1)}`].filter((name) => !known.includes(name));
}

/** The call of each route that does not take its input by `inputOf`; wire-only and host-only fields. */
interface Shared {
  readonly input: InputName;
  readonly also?: readonly string[];
  readonly without?: readonly string[];
}

const KEY = ["idempotencyKey"];
const HEADERS = ["idempotencyKey", "expectedLeaf"];

const SHARED: Readonly<Record<string, Shared>> = {
  createSession: { input: "createSession", without: KEY },
  ensureSession: { input: "ensureSession" },
  update: { input: "update", without: ["figures"] },
  deleteSession: { input: "deleteSession" },
  fork: { input: "fork", without: KEY },
  openMessage: { input: "openMessage", without: KEY },
  commit: { input: "openMessage.commit", also: ["lease", "chunks"], without: HEADERS },
  appendEntries: { input: "appendEntries.options", also: ["entries"], without: HEADERS },
  replaceSuffix: { input: "replaceSuffix", without: ["key"] },
  edit: { input: "edit", also: ["content"], without: HEADERS },
  branch: { input: "branch", also: ["entryId"], without: ["expectedLeaf"] },
  createShare: { input: "createShare" },
  recall: { input: "recall", also: ["query"] },
  buildContext: { input: "buildContext" },
  compact: {
    input: "compact",
    also: ["summary"],
    without: ["before", "signal", "idempotencyKey"],
  },
  planCompaction: { input: "compact", without: ["before", "signal", "idempotencyKey"] },
  summarize: { input: "summarize", also: ["through"], without: ["signal"] },
  putMemory: { input: "putMemory", without: ["agent", "name"] },
  listRecords: { input: "listRecords", without: ["namespace", "values"] },
  putRecord: { input: "compareAndSetRecord", without: ["namespace", "key"] },
  deleteRecord: { input: "deleteRecord" },
  searchRecords: { input: "searchRecords", also: ["query"] },
  readRecords: { input: "listRecords", also: ["keys"], without: ["values"] },
  inbound: { input: "gateway.message" },
  listRoutes: { input: "routes.list" },
  putRoute: { input: "routes.put" },
  patchRoute: { input: "routes.patch", also: ["fields"] },
  listOriginals: { input: "originals.list" },
  maintainSessions: { input: "maintainSessions", without: ["isRunning", "now"] },
  setQuota: { input: "setQuota" },
  verify: { input: "verify", without: ["onProgress"] },
  createToken: { input: "createToken" },
};

test.each(Object.entries(SHARED))(
  "the route %s has the fields of the library's call",
  (operation, { input, also = [], without = [] }) => {
    const route = ROUTES.find((each) => each.operation === operation);
    const shape = z.toJSONSchema(route?.body ?? (route?.query as z.ZodType), {
      io: "input",
      unrepresentable: "any",
    });
    const own = fieldsOf(input).filter((name) => !without.includes(name));
    expect(
      Object.keys(shape.properties ?? {})
        .map(fromWireName)
        .sort(),
    ).toEqual([...own, ...also].sort());
  },
);

/** The call of each tool, and tool-only arguments. */
const TOOL_CALLS: Readonly<Record<string, Shared>> = {
  search_sessions: {
    input: "searchSessions",
    also: ["query", "projectId", "workstationId", "withNotes"],
  },
  list_sessions: { input: "listSessions", also: ["workstationId", "subAgents"] },
  recap: { input: "recapSessions", also: ["projectId", "workstationId", "sessionId"] },
  related: { input: "relatedSessions", also: ["sessionId"] },
  trace: { input: "traceWork", also: ["projectId", "workstationId", "line", "commit"] },
  list_messages: { input: "listMessages", also: ["sessionId", "cursor", "messageBytes"] },
  recall: { input: "recall", also: ["sessionId", "query"] },
  search_memory: { input: "searchMemory", also: ["query"] },
  remember: {
    input: "putMemory",
    also: ["sessionId", "mark", "replacedBy", "acceptRule", "forgetConversation"],
  },
  build_context: { input: "buildContext", also: ["sessionId"] },
  compact_conversation: { input: "compact", also: ["sessionId"] },
  append_message: {
    input: "append",
    also: ["sessionId", "idempotencyKey", "expectedLeaf"],
  },
};

test.each(Object.entries(TOOL_CALLS))(
  "the arguments of the tool %s are fields of the library's call",
  (name, { input, also = [] }) => {
    const tool = TOOLS.find((each) => each.name === name);
    const own = Object.keys(tool?.list().inputSchema.properties ?? {}).map(fromWireName);
    const known: readonly string[] = [...fieldsOf(input), ...also, "detail", "maxTokens"];
    expect(own.filter((each) => !known.includes(each))).toEqual([]);
  },
);
