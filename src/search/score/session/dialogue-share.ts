import { ROLES } from "../../index/layout.ts";

/** The number of best sessions that decide whether a query is about talk or about tool traffic. */
export const SAMPLED_SESSIONS = 5;

const TOOL: number = ROLES.indexOf("tool");

/**
 * The share of talk among the best sessions' hits, 0 to 1; 1 without a hit. `roles` has the role of each
 * hit's message, undefined if only the title, the summary or facts match.
 */
export function dialogueShare(roles: readonly (number | undefined)[]): number {
  if (roles.length === 0) return 1;
  return roles.filter((role) => role !== TOOL).length / roles.length;
}
