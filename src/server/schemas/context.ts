/** Contexts, compactions, summaries, usage and recalled messages in answers. */

import { z } from "zod";
import { WINDOW_ITEM } from "../../model/answers/context.ts";
import { ENTRY } from "../../model/entry.ts";
import { FACT } from "../../model/note.ts";
import { count, jsonValue } from "./common.ts";
import { block } from "./entry.ts";
import { schemaOf } from "./shape.ts";

const text = z.string();
const textOrNull = text.nullable();

export const context: z.ZodType = z
  .object({
    messages: z.array(
      z.object({
        role: text,
        actor: textOrNull,
        part: text,
        blocks: z.array(block),
        entry_ids: z.array(text),
        model: textOrNull,
        aborted: z.boolean(),
      }),
    ),
    omitted: z.array(z.looseObject({})).meta({ description: "Omitted parts, with reasons." }),
    tokens: count,
    shortened: count,
    rendered: jsonValue.meta({ description: "The provider's own shape; null without `provider`." }),
  })
  .meta({ id: "Context" });

export const recalled: z.ZodType = z
  .object({
    items: z.array(
      z.union([
        z.object({
          type: z.literal("message"),
          entry: schemaOf(ENTRY),
          score: z.number(),
          window: z.array(schemaOf(WINDOW_ITEM)),
        }),
        z.object({ type: z.literal("fact"), fact: schemaOf(FACT) }),
      ]),
    ),
  })
  .meta({ id: "Recalled" });
