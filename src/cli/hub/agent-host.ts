/** What an agent on this machine may do, by its command line and its environment. */

import type { TenantApi } from "../../engine/interfaces.ts";
import { thisMachine } from "../../ingest/identity/identity.ts";
import type { McpHost } from "../../mcp/host.ts";
import { withChangedFiles } from "../changed-files.ts";
import { readVersion } from "../program.ts";

interface AgentSettings {
  readonly actor?: string;
  /** The session that the agent speaks in. */
  readonly session?: string;
  readonly "read-only"?: boolean;
  readonly "all-tools"?: boolean;
  /** Nothing of the session is kept. */
  readonly isOff?: boolean;
  /** The name of the agent's pipe. */
  readonly pipe?: string | undefined;
  /** When the agent started its server. */
  readonly startedAt?: number | undefined;
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly onError: (error: unknown) => void;
}

export function agentHost(tenant: TenantApi, settings: AgentSettings): McpHost {
  const { actor, session, isOff = false, pipe, startedAt, cwd, variables, onError } = settings;
  return {
    tenant,
    access: {
      tenant: tenant.tenant,
      scope: settings["read-only"] || isOff ? "read" : "write",
      actor: actor ?? null,
      actAs: actor === undefined ? "any" : [],
      operator: false,
      tokenId: null,
    },
    version: readVersion(),
    tools: settings["all-tools"] ? "all" : "agent",
    cwd,
    variables,
    answerHook: async (question) => {
      const { answerHook } = await import("../hook/answer.ts");
      return answerHook(tenant, { ...question, cwd, variables, goesOn: true }, thisMachine());
    },
    history: async (subject) => {
      const { readHistory } = await import("../git-history.ts");
      const { commits, file } = await readHistory(subject, { folder: cwd, trailers: true });
      return { commits, ...file };
    },
    changedFiles: (hits) => withChangedFiles(tenant, hits, { folder: cwd }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(session === undefined ? {} : { sessions: [session] }),
    ...(isOff ? { incognito: true } : {}),
    ...(pipe === undefined ? {} : { callKey: (request) => `${pipe}:${request}` }),
    onError,
  };
}
