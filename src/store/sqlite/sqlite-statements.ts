import { type RegisterStatements, statementsOf } from "../statements.ts";

/** Registers the statements of this backend. */
export const statements: RegisterStatements = statementsOf("sqlite");
