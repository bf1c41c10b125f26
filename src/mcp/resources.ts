/**
 * Sessions as resources: fields, and messages by page, at `session://ID` and
 * `session://ID/messages?offset=…&limit=…`.
 */

import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Server,
} from "@modelcontextprotocol/server";
import { maskSession } from "../api/mask.ts";
import { toWireSession } from "../api/session.ts";
import { ABOUT_RECALLED } from "../api/text/session-heading.ts";
import { toWireTime } from "../api/wire.ts";
import { BackscrollError } from "../model/errors.ts";
import {
  DEFAULT_MCP_MESSAGE_BYTES,
  DEFAULT_MCP_PAGE,
  DEFAULT_PAGE,
  MAX_MCP_PAGE,
} from "../model/limits.ts";
import type { Session } from "../model/session.ts";
import { type AnswerBody, fitAnswer } from "./answer.ts";
import { noSuchResource, toProtocolFailure } from "./failure.ts";
import type { McpHost } from "./host.ts";
import { readMessagePage } from "./views/message.ts";

const SESSION_TEMPLATE = "session://{id}";

const MESSAGES_TEMPLATE = "session://{id}/messages{?offset,limit}";

const JSON_TYPE = "application/json";

export const TEMPLATES: ListResourceTemplatesResult = {
  resourceTemplates: [
    {
      uriTemplate: SESSION_TEMPLATE,
      name: "session",
      title: "A conversation",
      description: "The metadata of a conversation.",
      mimeType: JSON_TYPE,
    },
    {
      uriTemplate: MESSAGES_TEMPLATE,
      name: "messages",
      title: "The messages of a conversation",
      description: "A page of a conversation, in order.",
      mimeType: JSON_TYPE,
    },
  ],
};

export function serveResources(server: Server, host: McpHost): void {
  server.setRequestHandler("resources/list", async ({ params }) => {
    try {
      return await listResources(host, params?.cursor);
    } catch (error) {
      throw toProtocolFailure(error, host);
    }
  });
  server.setRequestHandler("resources/templates/list", () => TEMPLATES);
  server.setRequestHandler("resources/read", async ({ params }) => {
    try {
      return await readResource(host, params.uri);
    } catch (error) {
      throw toProtocolFailure(error, host, params.uri);
    }
  });
}

async function listResources(
  { tenant }: McpHost,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const page = await tenant.listSessions({
    limit: DEFAULT_PAGE,
    ...(cursor === undefined ? {} : { cursor }),
  });
  const resources = page.sessions.map(toResource);
  return page.nextCursor === undefined ? { resources } : { resources, nextCursor: page.nextCursor };
}

function toResource(session: Session): ListResourcesResult["resources"][number] {
  const { id, title, agent, messageCount, updatedAt } = maskSession(session);
  return {
    uri: formatSessionUri(id),
    name: id,
    title: title === "" ? id : title,
    description: `A conversation of ${agent} with ${messageCount} messages`,
    mimeType: JSON_TYPE,
    annotations: { lastModified: toWireTime(updatedAt) },
  };
}

async function readResource(host: McpHost, uri: string): Promise<ReadResourceResult> {
  const named = parseSessionUri(uri);
  if (named === undefined) throw noSuchResource(uri);
  const { structuredContent } = await fitAnswer<AnswerBody>({
    items: named.kind === "messages" ? named.limit : 1,
    cuts: [],
    read: (items) => read(host, named, items),
  });
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(structuredContent) }] };
}

async function read(
  { tenant }: McpHost,
  named: SessionUri,
  limit: number,
): Promise<AnswerBody & Readonly<Record<string, unknown>>> {
  const about = ABOUT_RECALLED;
  if (named.kind === "session") {
    const session = toWireSession(maskSession(await tenant.getSessionMeta(named.id)));
    return { about, session, truncated: null };
  }
  const { offset } = named;
  const page = await readMessagePage(tenant, named.id, {
    offset,
    limit,
    messageBytes: DEFAULT_MCP_MESSAGE_BYTES,
  });
  return { about, session_id: named.id, ...page, truncated: null };
}

type SessionUri =
  | { readonly kind: "session"; readonly id: string }
  | {
      readonly kind: "messages";
      readonly id: string;
      readonly offset: number;
      readonly limit: number;
    };

export function formatSessionUri(id: string): string {
  return `session://${encodeURIComponent(id)}`;
}

/** The resources of a session, which change with it. */
export function urisOf(id: string): readonly string[] {
  const uri = formatSessionUri(id);
  return [uri, `${uri}/messages`];
}

/** Undefined if the URI is not ours; throws `invalid_input` for an impossible page. */
export function parseSessionUri(uri: string): SessionUri | undefined {
  const [, encoded = "", messages, query = ""] =
    /^session:\/\/([^/?#]+)(\/messages)?(?:\?([^#]*))?$/.exec(uri) ?? [];
  const id = decode(encoded);
  if (id === undefined || id === "") return undefined;
  if (messages === undefined) return query === "" ? { kind: "session", id } : undefined;
  const parameters = new URLSearchParams(query);
  return {
    kind: "messages",
    id,
    offset: toNumber(parameters.get("offset"), "offset", 0, 0, Number.MAX_SAFE_INTEGER),
    limit: toNumber(parameters.get("limit"), "limit", DEFAULT_MCP_PAGE, 1, MAX_MCP_PAGE),
  };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function toNumber(
  text: string | null,
  field: string,
  preset: number,
  least: number,
  most: number,
): number {
  if (text === null) return preset;
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new BackscrollError(
    "invalid_input",
    `${field} is ${JSON.stringify(text.slice(0, 40))}; it must be an integer from ${least} to ${most}. Example: session://01JABCDEFGHJKMNPQRSTVWXYZ0/messages?offset=0&limit=20`,
    { details: { field } },
  );
}
