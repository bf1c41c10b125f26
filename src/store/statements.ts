/**
 * The registry of SQL statements.
 *
 * Statements are named constants. Registering them lets a test check that each names the tenant.
 */

import type { Backend } from "../model/inputs/choices.ts";

export interface Statement {
  readonly backend: Backend;
  readonly name: string;
  readonly sql: string;
}

/** Registers each of `sql` under `group.name` and returns them. */
export type RegisterStatements = <const Group extends Record<string, string>>(
  group: string,
  sql: Group,
) => Group;

const registry: Statement[] = [];

export function statementsOf(backend: Statement["backend"]): RegisterStatements {
  return (group, sql) => {
    for (const [name, text] of Object.entries(sql)) {
      registry.push({ backend, name: `${group}.${name}`, sql: text });
    }
    return sql;
  };
}

export function registeredStatements(): readonly Statement[] {
  return registry;
}
