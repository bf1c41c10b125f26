/** Agents of several frameworks, on scripted models, that answer one request after looking something up. */

import type { TenantApi } from "../../../src/engine/interfaces.ts";

/** Takes a request through a tool call to an answer, which it gives back. */
export type RunTurn = (
  memory: TenantApi,
  request: string,
  /** The tool. */
  look: () => Promise<string>,
) => Promise<string>;

/** The script of every model: it calls its tool, and quotes the result. */
export const answerTo = (seen: string): string => `It was ${seen}.`;
