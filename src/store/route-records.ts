/** Routes as they cross the port. */

import type { ChangeAuthor } from "../model/change.ts";
import type { JsonObject } from "../model/json.ts";
import type { NewSession } from "./records.ts";

/** Leads a key to a session: to one that is there, or to one that is made in the same transaction. */
export interface PutRouteRequest {
  readonly key: string;
  readonly sessionId: string;
  /**
   * Creates the session in the same transaction, so that two concurrent starts make one session.
   */
  readonly session?: NewSession;
  /** All fields of the route: replaces the previous ones. */
  readonly fields: JsonObject;
  /** The version that the writer has seen; 0: there was no route. */
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
