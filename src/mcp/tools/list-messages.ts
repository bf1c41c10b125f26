import { z } from "zod";
import { ABOUT_RECALLED, sessionHeading } from "../../api/text/session-heading.ts";
import { quoteConversation } from "../../context/quote.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import {
  DEFAULT_MCP_MESSAGE_BYTES,
  DEFAULT_MCP_PAGE,
  DEFAULT_MCP_READ_TOKENS,
  MAX_MCP_MESSAGE_BYTES,
  MAX_MCP_PAGE,
} from "../../model/limits.ts";
import { fitListing, formatRef, parseRef } from "../fit-listing.ts";
import { type McpHost, nowOf } from "../host.ts";
import {
  formatCursor,
  isClients,
  MESSAGE_VIEW,
  parseCursor,
  readEntryPage,
  readMessagePage,
  showMessage,
} from "../views/message.ts";
import { ABOUT, hits, id, name, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const INPUT = z.object({
  session_id: SESSION_ID.optional(),
  offset: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe("The index of the first message; 0 if left out."),
  limit: hits(DEFAULT_MCP_PAGE, `Messages; ${DEFAULT_MCP_PAGE} if left out.`, MAX_MCP_PAGE),
  around: id(
    "A message to put in the middle: k3f9#12 or an entry id (session_id is not needed then), or 12.",
  ).optional(),
  leaf: id("A leaf other than the active one.").optional(),
  cursor: name("next_cursor of the previous page, in place of offset.").optional(),
  message_bytes: z
    .number()
    .int()
    .min(64)
    .max(MAX_MCP_MESSAGE_BYTES)
    .optional()
    .describe("Bytes to show of each message, inputs and outputs of tools included."),
});

export const listMessages: Tool = defineTool({
  name: "list_messages",
  title: "Read a conversation",
  description:
    "Read a conversation, in order: what was said in full, tool calls and results in a line each. Use it to read on from a hit, with around. Not to find something (search_sessions), nor for an overview (recap with session_id).",
  scope: "read",
  input: INPUT,
  example: { around: "k3f9#12", limit: 20 },
  output: z.object({
    about: ABOUT,
    session_id: z.string(),
    messages: z.array(MESSAGE_VIEW),
    offset: z.number().int(),
    total: z.number().int().describe("Messages on this path."),
    next_cursor: z.string().nullable().describe("Null at the end."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_READ_TOKENS,
  counts: "limit",
  run: async ({ tenant }, input) => {
    const { session, query } = await toQuery(tenant, input);
    const messageBytes = input.message_bytes ?? DEFAULT_MCP_MESSAGE_BYTES;
    const page = await readMessagePage(tenant, session, { ...query, messageBytes });
    return { about: ABOUT_RECALLED, session_id: session, ...page, truncated: null };
  },
  show,
});

const CUT_LINE = /…$/m;

async function show(
  host: McpHost,
  input: z.infer<typeof INPUT>,
  maxBytes: number,
): Promise<string> {
  const { session: named, query, focus: index } = await toQuery(host.tenant, input);
  const bytes = input.message_bytes;
  const { session, entries, offset, total } = await readEntryPage(host.tenant, named, query);
  if (entries.length === 0) {
    return `No messages here; ${session.shortId} has ${total}, numbered from 0.`;
  }
  const at = entries.findIndex((entry) => entry.id === query.around || entry.index === index);
  const isLeftOut = entries.map((entry, i) => i !== at && isClients(entry));
  const items = entries.map((entry, i) => {
    if (isLeftOut[i]) return "";
    const after = entries[i - 1]?.createdAt;
    const shownBytes = isClients(entry) ? (bytes ?? DEFAULT_MCP_MESSAGE_BYTES) : bytes;
    return showMessage(entry, {
      agent: session.agent,
      project: session.origin.projectPath,
      ...(shownBytes === undefined ? {} : { bytes: shownBytes }),
      ...(after === undefined ? {} : { after }),
    });
  });
  const heading = sessionHeading(session, nowOf(host), [`${total} messages`]);
  return fitListing(
    {
      items,
      focus: Math.max(0, at),
      toText: (shown, from, to) => {
        const end = offset + to;
        const leaf = query.leaf ?? session.leaf ?? entries.at(-1)?.id ?? null;
        const on = end < total ? [`on with cursor ${formatCursor(end, leaf)}`] : [];
        const back =
          offset + from > 0 ? [`before: offset ${Math.max(0, offset + from - query.limit)}`] : [];
        const rest = shown.length < items.length ? " (no more fit into max_tokens)" : "";
        const isCut = shown.some((text) => CUT_LINE.test(text));
        const cut = isCut ? ['"…" was cut: message_bytes shows more of each message'] : [];
        const numbers = `#${offset + from}–#${end - 1} of ${total}${rest}`;
        const left = entries.slice(from, to).filter((_, i) => isLeftOut[from + i]);
        const [first] = left;
        const prompts =
          first === undefined
            ? []
            : [
                `${left.length} of the client itself left out: around ${formatRef(session.shortId, first.index)} shows it`,
              ];
        const found = quoteConversation(
          ABOUT_RECALLED,
          [heading, ...shown.filter((text) => text !== "")].join("\n"),
        );
        return `${found}\n${[numbers, ...prompts, ...back, ...on, ...cut].join("; ")}`;
      },
    },
    maxBytes,
  );
}

interface PageQuery {
  readonly limit: number;
  readonly offset?: number;
  readonly leaf?: string;
  readonly around?: string;
}

async function toQuery(
  tenant: TenantApi,
  input: z.infer<typeof INPUT>,
): Promise<{
  readonly session: string;
  readonly query: PageQuery;
  readonly focus?: number;
}> {
  const { session_id, limit, offset, leaf, around, cursor } = input;
  checkOneStart({ offset, around, cursor });
  const ref = around === undefined ? undefined : parseRef(around);
  const session = ref?.session ?? session_id ?? (await sessionOf(tenant, around));
  if (ref !== undefined) {
    const first = Math.max(0, ref.index - Math.floor(limit / 2));
    return { session, query: { limit, offset: first, ...defined({ leaf }) }, focus: ref.index };
  }
  const query = {
    limit,
    ...defined({ offset, leaf, around }),
    ...(cursor === undefined ? {} : parseCursor(cursor)),
  };
  return { session, query };
}

function checkOneStart(starts: Readonly<Record<string, number | string | undefined>>): void {
  const given = Object.keys(starts).filter((name) => starts[name] !== undefined);
  const [first, second] = given;
  if (second === undefined) return;
  throw new BackscrollError(
    "invalid_input",
    `${first} and ${second} both say where to begin; give one of ${Object.keys(starts).join(", ")}`,
    { details: { field: second } },
  );
}

/** The session of an entry, as the notes of a cut context name it. */
async function sessionOf(tenant: TenantApi, around: string | undefined): Promise<string> {
  const example = 'such as "k3f9#12"';
  if (around === undefined) {
    throw new BackscrollError(
      "invalid_input",
      `session_id is missing; it must be a session's short id or id, or around a message ${example}`,
      { details: { field: "session_id" } },
    );
  }
  try {
    return (await tenant.getEntry(around)).sessionId;
  } catch (cause) {
    if (!BackscrollError.is(cause, "entry_not_found")) throw cause;
    throw new BackscrollError(
      "invalid_input",
      `around is ${JSON.stringify(around)}; without session_id it must be a message ${example}, or an entry's id`,
      { details: { field: "around" }, cause },
    );
  }
}
