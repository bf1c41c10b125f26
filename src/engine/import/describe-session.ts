/** The caller's description of an imported session. */

import type { Session } from "../../model/session.ts";
import type { SessionPatch } from "../../store/records.ts";

/** The session fields that a description depends on. */
export type Described = Pick<Session, "title" | "metadata" | "figures">;
export type Description = Pick<SessionPatch, "title" | "metadata" | "figures">;

export type DescribeSession = (
  session: Described,
  title: string | undefined,
  skipped: number,
) => Description;
