/**
 * The registry of SQL statements.
 *
 * Statements are constants with a name. Registering them lets a test look at each one: whether it
 * names the tenant, and whether it is ever built from pieces.
 */

export interface Statement {
  readonly name: string;
  readonly sql: string;
}

const registry: Statement[] = [];

/** Registers `sql` under `group.name` and gives it back as it is. */
export function statements<const Group extends Record<string, string>>(
  group: string,
  sql: Group,
): Group {
  for (const [name, text] of Object.entries(sql)) {
    registry.push({ name: `${group}.${name}`, sql: text });
  }
  return sql;
}

export function registeredStatements(): readonly Statement[] {
  return registry;
}
