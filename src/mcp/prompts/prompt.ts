/** The definition of a prompt: description, arguments, messages. */

import type { GetPromptResult, Prompt as ListedPrompt } from "@modelcontextprotocol/server";
import { z } from "zod";
import { toProtocolFailure } from "../failure.ts";
import type { McpHost } from "../host.ts";
import { inCallersWords, toInputError } from "../input-error.ts";

export interface Prompt {
  readonly name: string;
  readonly example: Readonly<Record<string, string>>;
  readonly list: ListedPrompt;
  readonly get: (host: McpHost, args: unknown) => Promise<GetPromptResult>;
}

interface Definition<Input extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** All strings: the protocol has no other type. */
  readonly input: Input;
  /** Example arguments, shown with errors. */
  readonly example: Readonly<Record<string, string>>;
  readonly run: (
    host: McpHost,
    input: z.infer<z.ZodObject<Input>>,
  ) => Promise<GetPromptResult["messages"]>;
}

export function definePrompt<Input extends z.ZodRawShape>(definition: Definition<Input>): Prompt {
  const { name, title, description, example, run } = definition;
  const input = z.object(definition.input);
  return {
    name,
    example,
    list: {
      name,
      title,
      description,
      arguments: Object.entries(input.shape).map(([argument, schema]) => {
        const field = schema as z.ZodType;
        return {
          name: argument,
          description: field.description ?? "",
          required: !field.safeParse(undefined).success,
        };
      }),
    },
    get: async (host, args) => {
      try {
        const given = args ?? {};
        const parsed = input.strict().safeParse(given);
        const called = { name, input, example };
        if (!parsed.success) throw toInputError(parsed.error, given, called);
        const asked = parsed.data as z.infer<z.ZodObject<Input>>;
        const messages = await inCallersWords(called, () => run(host, asked));
        return { description, messages };
      } catch (error) {
        throw toProtocolFailure(error, host);
      }
    },
  };
}
