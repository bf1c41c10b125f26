/** Routes as they cross the port. */

import type { ChangeAuthor } from "../model/change.ts";
import type { JsonObject } from "../model/json.ts";
import type { NewSession } from "./records.ts";

/** Leads a key to a session: to one that is there, or to one that is made in the same transaction. */
export interface PutRouteRequest {
  readonly key: string;
  readonly sessionId: string;
  /** Under `sessionId`. So two who start a conversation at once make one session, and not two. */
  readonly session?: NewSession;
  /** All of the route's fields: what it had before is gone. */
  readonly fields: JsonObject;
  /** The version that the writer has seen; 0: there was no route. */
  readonly expectedVersion?: number;
  readonly reason: string;
  readonly now: number;
  readonly by?: ChangeAuthor;
}

/** Only what is present changes, inside the transaction; null takes a field away. */
export interface PatchRouteRequest {
  readonly key: string;
  readonly fields: JsonObject;
  readonly expectedVersion?: number;
  readonly now: number;
  readonly by?: ChangeAuthor;
}
