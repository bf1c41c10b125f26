/**
 * The definition of a tool: name, description, input, output and required scope. The list of tools,
 * the checks and the answers derive from it.
 */

import type { CallToolResult, Tool as ListedTool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type AccessScope, requireScope } from "../../model/access.ts";
import {
  MAX_MCP_ANSWER_BYTES,
  MAX_MCP_ANSWER_TOKENS,
  MIN_MCP_ANSWER_TOKENS,
} from "../../model/limits.ts";
import { type AnswerBody, fitAnswer, toTextAnswer } from "../answer.ts";
import { inCallersWords, toInputError, toToolFailure } from "../failure.ts";
import { cutQuoted } from "../fit-listing.ts";
import type { McpHost, Unread } from "../host.ts";

export interface Tool {
  readonly name: string;
  /** The required scope. */
  readonly scope: AccessScope;
  readonly example: object;
  /** The schema of its data, which it mostly gives for `detail: "full"`. */
  readonly output: z.ZodType;
  /** Its entry in `tools/list`. */
  readonly list: () => ListedTool;
  /** Never throws: a failure is an answer too. */
  readonly call: (host: McpHost, args: unknown) => Promise<CallToolResult>;
}

interface Definition<Input extends z.ZodObject, Body extends AnswerBody> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scope: AccessScope;
  /** May delete or replace data. Reading tools never do. */
  readonly destructive?: boolean;
  /** Idempotent. */
  readonly idempotent?: boolean;
  readonly input: Input;
  /** Example arguments, shown with errors. */
  readonly example: z.input<Input>;
  readonly output: z.ZodType<Body>;
  /**
   * The default of the argument `max_tokens`. Absent: another argument bounds the answer, or it is
   * small.
   */
  readonly maxTokens?: number;
  /** The input field with the number of items, which may be reduced to fit. */
  readonly counts?: keyof z.infer<Input> & string;
  /** Its default. */
  readonly presetCount?: number;
  /** Whether these arguments imply `detail: "full"`. */
  readonly asksForData?: (input: z.infer<Input>) => boolean;
  /** The token limit for these arguments, if they ask for more than `maxTokens`. */
  readonly tokensFor?: (input: z.infer<Input>) => number;
  /** The lengths in bytes to which texts may be cut before items are left out. */
  readonly cuts?: readonly number[];
  /** The complete data. */
  readonly run: (host: McpHost, input: z.infer<Input>) => Promise<Body>;
  /** Its text for a model. A tool without `toText` and `show` always answers with data. */
  readonly toText?: (body: Body, host: McpHost) => string;
  /** Instead of `toText`, where a model gets other content than `run` reads. */
  readonly show?: (host: McpHost, input: z.infer<Input>, maxBytes: number) => Promise<string>;
}

/** As in the token estimate. */
const BYTES_A_TOKEN = 4;

const DETAIL = z
  .enum(["brief", "full"])
  .optional()
  .describe("full: the whole data as JSON, for programs.");

function maxTokens(preset: number): z.ZodOptional<z.ZodNumber> {
  return z
    .number()
    .int()
    .min(MIN_MCP_ANSWER_TOKENS)
    .max(MAX_MCP_ANSWER_TOKENS)
    .optional()
    .describe(`The limit of the answer, in tokens; ${preset} if left out.`);
}

export function defineTool<Input extends z.ZodObject, Body extends AnswerBody>(
  definition: Definition<Input, Body>,
): Tool {
  const { name, scope } = definition;
  let listed: ListedTool | undefined;
  return {
    name,
    scope,
    example: definition.example,
    output: definition.output,
    // Built on demand: a server started for one call never needs it.
    list: () => {
      listed ??= toListed(definition);
      return listed;
    },
    call: async (host, args) => {
      try {
        requireScope(host.access, scope);
        const note = scope === "read" ? unreadNote(await host.freshen?.()) : undefined;
        return tellUnread(await answer(definition, host, args, note?.bytes ?? 0), note);
      } catch (error) {
        return toToolFailure(error, host);
      }
    },
  };
}

/** The definition's fields and those of the answer's format. */
function wholeInput<Input extends z.ZodObject, Body extends AnswerBody>(
  definition: Definition<Input, Body>,
): z.ZodObject {
  const { input, maxTokens: preset } = definition;
  return input
    .extend(isForModels(definition) ? { detail: DETAIL } : {})
    .extend(preset === undefined ? {} : { max_tokens: maxTokens(preset) })
    .strict();
}

function isForModels({ toText, show }: Pick<Definition<never, never>, "toText" | "show">): boolean {
  return toText !== undefined || show !== undefined;
}

async function answer<Input extends z.ZodObject, Body extends AnswerBody>(
  definition: Definition<Input, Body>,
  host: McpHost,
  args: unknown,
  /** Bytes added around the answer later. */
  reserved: number,
): Promise<CallToolResult> {
  const { name, example, counts, cuts = [], run, toText, show } = definition;
  const given = args ?? {};
  const whole = wholeInput(definition);
  const parsed = whole.safeParse(given);
  const called = { name, example, input: whole };
  if (!parsed.success) throw toInputError(parsed.error, given, called);
  const { detail, max_tokens, ...own } = parsed.data as Asked;
  const input = own as z.infer<Input>;
  const asked = detail ?? (definition.asksForData?.(input) ? "full" : "brief");
  const isFull = asked === "full" || !isForModels(definition);
  const brief = definition.tokensFor?.(input) ?? definition.maxTokens;
  const tokens = max_tokens ?? (isFull ? MAX_MCP_ANSWER_TOKENS : brief);
  const size = tokens === undefined ? {} : { passedOn: tokens * BYTES_A_TOKEN - reserved };
  if (show !== undefined && !isFull) {
    const room = size.passedOn ?? MAX_MCP_ANSWER_BYTES / 2;
    return toTextAnswer(
      cutQuoted(await inCallersWords(called, () => show(host, input, room)), room),
    );
  }
  const items = counts === undefined ? 1 : Number(input[counts] ?? definition.presetCount);
  const read = (count: number) =>
    inCallersWords(called, () =>
      run(host, counts === undefined ? input : { ...input, [counts]: count }),
    );
  const source = { read, items, cuts };
  if (toText === undefined || isFull) return fitAnswer(source, size);
  return fitAnswer({ ...source, toText: (body) => toText(body, host) }, size);
}

interface Asked {
  readonly detail?: "brief" | "full";
  readonly max_tokens?: number;
  readonly [name: string]: unknown;
}

function toListed<Input extends z.ZodObject, Body extends AnswerBody>(
  definition: Definition<Input, Body>,
): ListedTool {
  const { name, title, description, scope, output } = definition;
  const readOnly = scope === "read";
  const schema = withoutNoise(z.toJSONSchema(wholeInput(definition), { io: "input" }));
  return {
    name,
    title,
    description,
    inputSchema: schema as ListedTool["inputSchema"],
    // A tool with an output schema must answer with structured content, which clients pass to the model
    // in place of the text.
    ...(isForModels(definition) ? {} : { outputSchema: toOutputSchema(output) }),
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: definition.destructive ?? false,
      idempotentHint: readOnly || (definition.idempotent ?? false),
      // A closed world: the store only.
      openWorldHint: false,
    },
  };
}

/**
 * Every agent session pays for the list, so length limits are left out: they are checked, and help
 * no model.
 */
const NOISE = new Set(["$schema", "minLength", "maxLength"]);

function withoutNoise(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNoise);
  if (typeof schema !== "object" || schema === null) return schema;
  const fields = Object.entries(schema).filter(
    ([name, value]) => !NOISE.has(name) && value !== Number.MAX_SAFE_INTEGER,
  );
  return Object.fromEntries(fields.map(([name, value]) => [name, withoutNoise(value)]));
}

function toOutputSchema(output: z.ZodType): NonNullable<ListedTool["outputSchema"]> {
  return z.toJSONSchema(output, { io: "output" }) as NonNullable<ListedTool["outputSchema"]>;
}

/** The note on transcripts that were not read in time; none if the answer is up to date. */
interface UnreadNote {
  readonly unread: Unread;
  readonly text: string;
  /** Its maximum size. */
  readonly bytes: number;
}

function unreadNote(unread: Unread | undefined): UnreadNote | undefined {
  if (unread === undefined || (unread.files === 0 && unread.complete)) return undefined;
  const { files, bytes, complete } = unread;
  const named = files === 1 ? "1 transcript" : `${files} transcripts`;
  const amount = files === 0 ? "Some transcripts" : `${named} (${bytes} bytes)`;
  const more = complete || files === 0 ? "" : " and maybe more";
  const verb = files === 1 && complete ? "is" : "are";
  const text = `${amount}${more} ${verb} not read yet; ask again in a moment.`;
  return { unread, text, bytes: text.length + JSON.stringify({ unread }).length };
}

/** As text for models, or as a field of data with the same text. */
function tellUnread(result: CallToolResult, note: UnreadNote | undefined): CallToolResult {
  if (note === undefined) return result;
  if (result.structuredContent === undefined) {
    const said = (result.content ?? []).map((block) => (block.type === "text" ? block.text : ""));
    return { ...result, content: [{ type: "text", text: [...said, note.text].join("\n\n") }] };
  }
  const structuredContent = { ...result.structuredContent, unread: { ...note.unread } };
  const content = [{ type: "text" as const, text: JSON.stringify(structuredContent) }];
  return { ...result, content, structuredContent };
}
