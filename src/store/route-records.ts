/** Routes at the store port. */

import type { ChangeAuthor } from "../model/change.ts";
import type { JsonObject } from "../model/json.ts";
import type { NewSession } from "./records.ts";

/** Points a key at a session: an existing one, or one created in the same transaction. */
export interface PutRouteRequest {
  readonly key: string;
  readonly sessionId: string;
  /**
   * Creates the session in the same transaction, so that two concurrent starts make one session.
   */
  readonly session?: NewSession;
  /** All fields of the route: replaces the previous ones. */
  readonly fields: JsonObject;
  /** The version that the writer has read; 0: no route. */
  readonly expectedVersion?: number;
  readonly reason: string;
  readonly now: number;
  readonly by?: ChangeAuthor;
}

/** A patch, applied inside the transaction; null removes a field. */
export interface PatchRouteRequest {
  readonly key: string;
  readonly fields: JsonObject;
  readonly expectedVersion?: number;
  readonly now: number;
  readonly by?: ChangeAuthor;
}
