/** Access tokens of a remote tenant. */

import { fromWireToken, type WireToken } from "../../api/token.ts";
import type {
  CreatedToken,
  CreateTokenInput,
  ListTokensInput,
} from "../../engine/access/tokens.ts";
import type { AccessToken } from "../../model/access-token.ts";
import type { Connection } from "../connection.ts";
import { at, known, toBody, toQuery, toTimes } from "../request.ts";

export async function createToken(
  connection: Connection,
  input: CreateTokenInput,
): Promise<CreatedToken> {
  const { expires, ...rest } = known("createToken", input, "token");
  const made = await connection.call<{ readonly token: string; readonly record: WireToken }>({
    method: "POST",
    path: "/v1/admin/tokens",
    body: toBody({ ...rest, ...toTimes({ expires }) }),
  });
  return { token: made.token, record: fromWireToken(made.record) };
}

export async function listTokens(
  connection: Connection,
  input: ListTokensInput,
): Promise<readonly AccessToken[]> {
  const { tokens } = await connection.call<{ readonly tokens: readonly WireToken[] }>({
    method: "GET",
    path: "/v1/admin/tokens",
    query: toQuery(known("listTokens", input)),
  });
  return tokens.map(fromWireToken);
}

export async function revokeToken(connection: Connection, id: string): Promise<AccessToken> {
  const path = at`/v1/admin/tokens/${id}`;
  return fromWireToken(await connection.call<WireToken>({ method: "DELETE", path }));
}
