/** The calls of a tenant's routes, local or remote: see `session-api.ts`. */

import type { Routes } from "../routes/routes.ts";

export type RoutesApi = Pick<Routes, keyof Routes>;
