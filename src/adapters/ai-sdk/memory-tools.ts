/**
 * Tools with which a model looks into its own past: `search_sessions`, `search_memory`, `remember`.
 *
 * For the AI SDK: `generateText({ tools: memoryTools(session) })`. The host fixes tenant and scope.
 * Results are marked as data: their text is untrusted and may contain instructions.
 */

import { maskMemory } from "../../api/mask.ts";
import { toWire, type WireOf } from "../../api/shape.ts";
import { ABOUT_RECALLED, MEMORY_WORDS, QUERY_HELP } from "../../api/text/session-heading.ts";
import { parseTime } from "../../api/text/times.ts";
import type { SessionApi } from "../../engine/interfaces.ts";
import type { SearchInput } from "../../engine/search.ts";
import { SEARCH_RESULT } from "../../model/answers/context.ts";
import { defined } from "../../model/defined.ts";
import { checkFields, checkMethods, checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { MAX_HITS, MAX_WINDOW } from "../../model/limits.ts";
import { MEMORY } from "../../model/note.ts";

export interface MemoryTool<Input, Output> {
  readonly description: string;
  readonly inputSchema: InputSchema<Input>;
  readonly execute: (input: Input) => Promise<Output>;
}

/** Which sessions may be searched. No input of the model can widen it. */
export type MemoryScope = Pick<
  SearchInput,
  "agent" | "owner" | "participant" | "project" | "workstation" | "gitBranch" | "source"
>;

export interface MemoryToolsOptions {
  /** Default: the sessions of the session's own agent. The session itself is never searched. */
  readonly scope?: MemoryScope;
}

export interface SearchSessionsToolInput {
  readonly query: string;
  readonly context_before?: number;
  readonly context_after?: number;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
}

export interface SearchMemoryToolInput {
  readonly query: string;
  readonly limit?: number;
}

export interface RememberToolInput {
  readonly name: string;
  readonly content: string;
}

/** A type alias: an interface is not assignable to the AI SDK's record of tools. */
export type MemoryTools = {
  readonly search_sessions: MemoryTool<
    SearchSessionsToolInput,
    Pick<WireOf<typeof SEARCH_RESULT>, "hits" | "notes"> & Recalled
  >;
  readonly search_memory: MemoryTool<
    SearchMemoryToolInput,
    { readonly memories: readonly WireOf<typeof MEMORY>[] } & Recalled
  >;
  readonly remember: MemoryTool<RememberToolInput, { readonly remembered: string }>;
};

interface Recalled {
  readonly about: string;
}

const QUERY = { type: "string", description: QUERY_HELP } as const;

const LIMIT = {
  type: "integer",
  minimum: 1,
  maximum: MAX_HITS,
  description: MEMORY_WORDS.hits,
} as const;

/** The tools of a model that answers in `session`. */
export function memoryTools(session: SessionApi, options: MemoryToolsOptions = {}): MemoryTools {
  checkMethods(session, "session", ["searchOthers", "searchMemory", "remember"]);
  const { scope: given } = checkFields(options, "options", INPUTS.memoryTools);
  if (given !== undefined) checkPart(given, "scope", INPUTS["memoryTools.scope"]);
  return {
    search_sessions: {
      description: MEMORY_WORDS.searchSessions,
      inputSchema: inputSchema<SearchSessionsToolInput>(
        {
          query: QUERY,
          context_before: count(MEMORY_WORDS.contextBefore),
          context_after: count(MEMORY_WORDS.contextAfter),
          since: { type: "string", description: MEMORY_WORDS.since },
          until: { type: "string", description: MEMORY_WORDS.until },
          limit: LIMIT,
        },
        ["query"],
      ),
      execute: async ({ query, ...input }) => {
        const scope = given ?? { agent: (await session.meta()).agent };
        const result = await session.searchOthers(query, {
          ...scope,
          ...defined({ contextBefore: input.context_before, contextAfter: input.context_after }),
          ...(input.since === undefined ? {} : { since: parseTime(input.since, "since", "since") }),
          ...(input.until === undefined ? {} : { until: parseTime(input.until, "until", "until") }),
          ...(input.limit === undefined ? {} : { limit: input.limit }),
        });
        const { hits, notes } = toWire(SEARCH_RESULT, result);
        return { about: ABOUT_RECALLED, hits, notes };
      },
    },
    search_memory: {
      description: MEMORY_WORDS.searchMemory,
      inputSchema: inputSchema<SearchMemoryToolInput>({ query: QUERY, limit: LIMIT }, ["query"]),
      execute: async ({ query, limit }) => {
        const memories = await session.searchMemory(query, limit === undefined ? {} : { limit });
        return {
          about: ABOUT_RECALLED,
          memories: memories.map(maskMemory).map((each) => toWire(MEMORY, each)),
        };
      },
    },
    remember: {
      description: MEMORY_WORDS.remember,
      inputSchema: inputSchema<RememberToolInput>(
        {
          name: { type: "string", description: MEMORY_WORDS.memoryName },
          content: { type: "string", description: MEMORY_WORDS.memoryContent },
        },
        ["name", "content"],
      ),
      execute: async ({ name, content }) => {
        const memory = await session.remember(name, content);
        return { remembered: memory.name };
      },
    },
  };
}

function count(description: string): {
  type: "integer";
  minimum: number;
  maximum: number;
  description: string;
} {
  return { type: "integer", minimum: 0, maximum: MAX_WINDOW - 1, description };
}

/**
 * The input of a tool as Standard Schema describes it, with JSON Schema:
 * https://standardschema.dev. The AI SDK accepts such objects, so it need not be installed.
 */
export interface InputSchema<Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "backscroll";
    readonly validate: (value: unknown) => ValidInput<Input> | InvalidInput;
    readonly jsonSchema: {
      readonly input: () => JsonObject;
      readonly output: () => JsonObject;
    };
    readonly types?: { readonly input: unknown; readonly output: Input } | undefined;
  };
}

interface ValidInput<Input> {
  readonly value: Input;
  readonly issues?: undefined;
}

interface InvalidInput {
  readonly issues: readonly { readonly message: string }[];
}

/** A property of the input, in JSON Schema. */
interface Property extends JsonObject {
  readonly type: "string" | "integer";
  readonly description: string;
}

/** An object with these properties and no others. The engine checks the values. */
function inputSchema<Input>(
  properties: Readonly<Record<string, Property>>,
  required: readonly string[],
): InputSchema<Input> {
  const schema = (): JsonObject => ({
    type: "object",
    properties: { ...properties },
    required: [...required],
    additionalProperties: false,
  });
  const validate = (value: unknown): ValidInput<Input> | InvalidInput => {
    const problem = findProblem(value, properties, required);
    return problem === undefined ? { value: value as Input } : { issues: [{ message: problem }] };
  };
  return {
    "~standard": {
      version: 1,
      vendor: "backscroll",
      validate,
      jsonSchema: { input: schema, output: schema },
    },
  };
}

function findProblem(
  value: unknown,
  properties: Readonly<Record<string, Property>>,
  required: readonly string[],
): string | undefined {
  if (!isPlainObject(value)) return "the input must be an object";
  const missing = required.find((name) => value[name] === undefined);
  if (missing !== undefined) return `${missing} is missing`;
  for (const [name, given] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) return `there is no ${name}`;
    const fits = property.type === "string" ? typeof given === "string" : Number.isInteger(given);
    if (given !== undefined && !fits) return `${name} must be of type ${property.type}`;
  }
  return undefined;
}
