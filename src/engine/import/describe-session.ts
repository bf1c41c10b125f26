/** How the caller of an import describes the session that was read. */

import type { Session } from "../../model/session.ts";
import type { SessionPatch } from "../../store/records.ts";

/** What of a session decides how it is described. */
export type Described = Pick<Session, "title" | "metadata" | "figures">;
export type Description = Pick<SessionPatch, "title" | "metadata" | "figures">;

export type DescribeSession = (
  session: Described,
  title: string | undefined,
  skipped: number,
) => Description;
