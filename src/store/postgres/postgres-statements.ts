import { type RegisterStatements, statementsOf } from "../statements.ts";

const register = statementsOf("postgres");
const names = new Map<string, string>();

/** Registers the statements of this backend. */
export const statements: RegisterStatements = (group, sql) => {
  for (const [name, text] of Object.entries(sql)) names.set(text, `${group}.${name}`);
  return register(group, sql);
};

/** The name of a prepared statement; undefined for ad-hoc SQL. */
export function preparedName(sql: string): string | undefined {
  return names.get(sql);
}
