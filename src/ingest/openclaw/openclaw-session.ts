/** Parts shared by openclaw's sessions in files and in databases. */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { SOURCE_KEY } from "../../transcript/source-fields.ts";
import { mapBatches } from "../batches.ts";
import { type Fields, objectField, otherFields, textField } from "../fields.ts";
import { folderOf, joinPath } from "../machine-paths.ts";
import type { Environment, ImportedSession } from "../source.ts";

export const FORMAT = "openclaw";

/** The folders that hold a folder for each agent. */
export function agentFolders(environment: Environment): string[] {
  const { home } = environment;
  const own = folderOf(environment, "OPENCLAW_STATE_DIR", joinPath(home, ".openclaw"));
  // Its earlier name, and a derived product.
  const roots = [own, joinPath(home, ".clawdbot"), joinPath(home, ".coderclaw")];
  return roots.map((root) => joinPath(root, "agents"));
}

/** The entries of a session in pi's format, with the agent as the model's actor. */
export function entriesOf(session: ImportedSession, agent: string): ImportedSession["entries"] {
  return mapBatches(session.entries, function* (batch) {
    for (const made of batch) yield made.actor === "pi" ? { ...made, actor: agent } : made;
  });
}

/** The routing key names the agent, the channel and the peer. */
export function withGateway(
  metadata: JsonObject,
  agent: string,
  key: string | undefined,
  entry: Fields | undefined,
): JsonObject {
  const source = metadata[SOURCE_KEY];
  if (!isPlainObject(source)) return metadata;
  const told = ["channel", "chatType", "groupId", "groupChannel", "space", "origin"].flatMap(
    (name) => (entry?.[name] === undefined ? [] : [[name, entry[name]] as const]),
  );
  const gateway = {
    agent,
    ...(key === undefined ? {} : { key }),
    ...(Object.fromEntries(told) as JsonObject),
  };
  return { ...metadata, [SOURCE_KEY]: source as JsonObject, gateway };
}

/** The session's current route, if its gateway names one. */
export function toRoute(
  key: string | undefined,
  entry: Fields | undefined,
): Pick<ImportedSession, "route"> {
  if (key === undefined || key === "" || entry === undefined) return {};
  return { route: { key, fields: otherFields(entry, ["sessionId"]) } };
}

export function titleOf(entry: Fields): string | null {
  const origin = objectField(entry, "origin");
  const names = [
    ...["label", "displayName", "subject"].map((name) => textField(entry, name)),
    textField(origin, "label"),
  ];
  return names.find((name) => name !== undefined && name !== "") ?? null;
}
