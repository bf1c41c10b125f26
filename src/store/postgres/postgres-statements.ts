import { createHash } from "node:crypto";
import { type RegisterStatements, statementsOf } from "../statements.ts";

const register = statementsOf("postgres");
const names = new Map<string, string>();

/** Registers the statements of this backend. */
export const statements: RegisterStatements = (group, sql) => {
  for (const [name, text] of Object.entries(sql)) {
    names.set(text, `${group}.${name}.${digest(text)}`);
  }
  return register(group, sql);
};

/**
 * A pooler may share a connection between nodes of two versions, so a name includes a digest of its
 * text.
 */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** The name of a prepared statement; undefined for ad-hoc SQL. */
export function preparedName(sql: string): string | undefined {
  return names.get(sql);
}
