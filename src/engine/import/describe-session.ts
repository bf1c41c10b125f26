/** How the caller of an import describes the session that was read. */

import type { Session } from "../../model/session.ts";
import type { SessionPatch } from "../../store/records.ts";

/** The fields of a session that its description depends on. */
export type Described = Pick<Session, "title" | "metadata" | "figures">;
export type Description = Pick<SessionPatch, "title" | "metadata" | "figures">;

export type DescribeSession = (
  session: Described,
  title: string | undefined,
  skipped: number,
) => Description;
