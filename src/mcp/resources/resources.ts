/** Sessions as resources: fields, and messages by page. */

import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Server,
} from "@modelcontextprotocol/server";
import { maskSession } from "../../api/mask.ts";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { toWireSession } from "../../api/session.ts";
import { toWireTime } from "../../api/wire.ts";
import { DEFAULT_MCP_MESSAGE_BYTES, DEFAULT_PAGE } from "../../model/limits.ts";
import type { Session } from "../../model/session.ts";
import { type AnswerBody, fitAnswer } from "../answer.ts";
import { noSuchResource, toProtocolFailure } from "../failure.ts";
import type { McpHost } from "../host.ts";
import { readMessagePage } from "../message-page.ts";
import {
  formatSessionUri,
  MESSAGES_TEMPLATE,
  parseSessionUri,
  SESSION_TEMPLATE,
  type SessionUri,
} from "./session-uri.ts";

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
