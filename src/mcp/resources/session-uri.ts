/** Resource URIs of sessions: `session://ID`, and `session://ID/messages?offset=…&limit=…`. */

import { BackscrollError } from "../../model/errors.ts";
import { DEFAULT_MCP_PAGE, MAX_MCP_PAGE } from "../../model/limits.ts";

export const SESSION_TEMPLATE = "session://{id}";
export const MESSAGES_TEMPLATE = "session://{id}/messages{?offset,limit}";

export type SessionUri =
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
