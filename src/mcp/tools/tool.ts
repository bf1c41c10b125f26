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
import { shownName } from "../agent-names.ts";
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
  /** Its entry in `tools/list`: with all arguments, or as it is offered. */
  readonly list: (offer?: Offer) => ListedTool;
  /** Never throws: a failure is an answer too. `as` is the name that it was called by. */
  readonly call: (host: McpHost, args: unknown, as?: string) => Promise<CallToolResult>;
}

/** A tool in other words and with fewer arguments in the list; calls may have all of them. */
export interface Offer {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The listed arguments with their descriptions; null: that of the tool. */
  readonly takes: Readonly<Record<string, string | null>>;
  /** Clients that load tools on demand load it at once. */
  readonly isFirst?: true;
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
    list: (offer) => {
      if (offer !== undefined) return toOffered(definition, offer);
      listed ??= toListed(definition);
      return listed;
    },
    call: async (host, args, as = name) => {
      try {
        requireScope(host.access, scope);
        const note = scope === "read" ? unreadNote(await host.freshen?.()) : undefined;
        const called = { ...definition, name: as };
        return tellUnread(await answer(called, host, args, note?.bytes ?? 0), note);
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
  const most = counts === undefined ? undefined : mostOf(counts, parsed.error);
  if (most !== undefined) {
    const note = `${most.name} is ${most.count} here, the most there is.`;
    const room = reserved + 2 * note.length;
    const clamped = await answer(definition, host, { ...given, [most.name]: most.count }, room);
    return withNote(clamped, note, ({ truncated }) => ({
      truncated: [note, ...(typeof truncated === "string" ? [truncated] : [])].join(" "),
    }));
  }
  const called = { name, example, input: whole, lists: shownName(host, "list_sessions") };
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

/** The most of the number of items, if more was asked for. */
function mostOf(
  name: string,
  error: z.ZodError | undefined,
): { readonly name: string; readonly count: number } | undefined {
  const issue = error?.issues.find(({ code, path }) => code === "too_big" && path[0] === name);
  return issue?.code === "too_big" ? { name, count: Number(issue.maximum) } : undefined;
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

function toOffered<Input extends z.ZodObject, Body extends AnswerBody>(
  definition: Definition<Input, Body>,
  { name, title, description, takes, isFirst }: Offer,
): ListedTool {
  const { scope, input } = definition;
  const shape = Object.fromEntries(
    Object.entries(takes).map(([field, words]) => {
      const schema = input.shape[field] as z.ZodType;
      return [field, words === null ? schema : schema.describe(words)];
    }),
  );
  const listed = z.toJSONSchema(z.strictObject(shape), { io: "input" });
  return {
    name,
    title,
    description,
    inputSchema: withoutNoise(listed) as ListedTool["inputSchema"],
    annotations:
      scope === "read"
        ? { readOnlyHint: true, openWorldHint: false }
        : { destructiveHint: definition.destructive ?? false, openWorldHint: false },
    ...(isFirst ? { _meta: { "anthropic/alwaysLoad": true } } : {}),
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

function tellUnread(result: CallToolResult, note: UnreadNote | undefined): CallToolResult {
  return note === undefined
    ? result
    : withNote(result, note.text, () => ({ unread: { ...note.unread } }));
}

/** As text for models, or as fields of data with the same text. */
function withNote(
  result: CallToolResult,
  note: string,
  fields: (data: Readonly<Record<string, unknown>>) => Record<string, unknown>,
): CallToolResult {
  if (result.structuredContent === undefined) {
    const said = (result.content ?? []).map((block) => (block.type === "text" ? block.text : ""));
    return { ...result, content: [{ type: "text", text: [...said, note].join("\n\n") }] };
  }
  const data = result.structuredContent as Readonly<Record<string, unknown>>;
  const structuredContent = { ...data, ...fields(data) };
  const content = [{ type: "text" as const, text: JSON.stringify(structuredContent) }];
  return { ...result, content, structuredContent };
}
