/** A session in one line, for models and lists without columns. */

import type { Session } from "../../model/session.ts";
import { maskText } from "../mask.ts";
import { formatAgo } from "./age.ts";

/** Longer titles are whole requests. */
const TITLE_CHARACTERS = 100;

/** `k3f9 Fix the cron lock [claude-code, shop, main, 3 h ago]`, with `more` at the end. */
export function sessionHeading(
  session: Session,
  now: number,
  more: readonly string[] = [],
): string {
  const { shortId, agent, origin, lastInteractionAt } = session;
  const facts = [agent, folderName(origin.projectPath), origin.gitBranch].map((fact) =>
    maskText(fact ?? ""),
  );
  const known = facts.filter((fact) => fact !== "" && fact !== "HEAD");
  const when = formatAgo(lastInteractionAt, now);
  return `${shortId} ${shownTitle(session.title)} [${[...known, when, ...more].join(", ")}]`;
}

export function shownTitle(title: string): string {
  const shown = maskText(title).replace(/\s+/g, " ").trim();
  if (shown === "") return "(no title)";
  const characters = [...shown];
  if (characters.length <= TITLE_CHARACTERS) return shown;
  return `${characters.slice(0, TITLE_CHARACTERS - 1).join("")}…`;
}

function folderName(path: string | undefined): string | undefined {
  return path?.split(/[\\/]/).findLast((part) => part !== "");
}
