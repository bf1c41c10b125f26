import { type RegisterStatements, statementsOf } from "../statements.ts";

/** The database's clock in SQL: epoch milliseconds. */
export const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** Registers the statements of this backend. */
export const statements: RegisterStatements = statementsOf("sqlite");
