/**
 * What a tool is: its name and words, what goes in, what comes out, and how far a caller must be
 * allowed to go. The list of tools, the checks and the answers are made from this one description.
 */

import type { CallToolResult, Tool as ListedTool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type AccessScope, requireScope } from "../../model/access.ts";
import { type AnswerBody, fitAnswer } from "../answer.ts";
import { toToolFailure } from "../failure.ts";
import type { McpHost } from "../host.ts";
import { inCallersWords, toInputError } from "../input-error.ts";

export interface Tool {
  readonly name: string;
  /** The least that a caller must be allowed to. */
  readonly scope: AccessScope;
  readonly example: object;
  /** As clients list it. */
  readonly list: () => ListedTool;
  /** Never throws: what went wrong is an answer, too. */
  readonly call: (host: McpHost, args: unknown) => Promise<CallToolResult>;
}

interface Definition<Input extends z.ZodObject, Body extends AnswerBody> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scope: AccessScope;
  /** May take something away that was there. Tools that only read never do. */
  readonly destructive?: boolean;
  /** The same call again changes nothing more. */
  readonly idempotent?: boolean;
  readonly input: Input;
  /** Arguments that work: who sends others is shown them. */
  readonly example: z.input<Input>;
  readonly output: z.ZodType<Body>;
  /** The field of the input that says how many items are wanted: fewer are read if need be. */
  readonly counts?: keyof z.infer<Input> & string;
  /** The lengths in bytes to which texts may be cut before items are left out. */
  readonly cuts?: readonly number[];
  readonly run: (host: McpHost, input: z.infer<Input>) => Promise<Body>;
  readonly toText: (body: Body) => string;
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
    // Made when somebody asks: a server that is started for one call never needs it.
    list: () => {
      listed ??= toListed(definition);
      return listed;
    },
    call: async (host, args) => {
      try {
        requireScope(host.access, scope);
        return await answer(definition, host, args);
      } catch (error) {
        return toToolFailure(error, host);
      }
    },
  };
}

async function answer<Input extends z.ZodObject, Body extends AnswerBody>(
  definition: Definition<Input, Body>,
  host: McpHost,
  args: unknown,
): Promise<CallToolResult> {
  const { counts, cuts = [], run, toText } = definition;
  const given = args ?? {};
  const parsed = definition.input.strict().safeParse(given);
  if (!parsed.success) throw toInputError(parsed.error, given, definition);
  const input = parsed.data as z.infer<Input>;
  const items = counts === undefined ? 1 : Number(input[counts]);
  const read = async (count: number) => {
    try {
      return await run(host, counts === undefined ? input : { ...input, [counts]: count });
    } catch (error) {
      throw inCallersWords(error, definition.input);
    }
  };
  return fitAnswer({ read, items, cuts, toText });
}

function toListed<Input extends z.ZodObject, Body extends AnswerBody>(
  definition: Definition<Input, Body>,
): ListedTool {
  const { name, title, description, scope, input, output } = definition;
  const readOnly = scope === "read";
  return {
    ...{ name, title, description },
    inputSchema: z.toJSONSchema(input.strict(), { io: "input" }) as ListedTool["inputSchema"],
    outputSchema: z.toJSONSchema(output, { io: "output" }) as NonNullable<
      ListedTool["outputSchema"]
    >,
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: definition.destructive ?? false,
      idempotentHint: readOnly || (definition.idempotent ?? false),
      // Nothing leaves the store.
      openWorldHint: false,
    },
  };
}
