import type { Migration } from "../migration.ts";
import { migrationsOf } from "../migrations/index.ts";
import { SCHEMA } from "./schema/index.ts";

export const POSTGRES_MIGRATIONS: readonly Migration[] = migrationsOf("postgres", SCHEMA);
