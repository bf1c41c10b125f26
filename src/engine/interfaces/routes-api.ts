/** What can be done with the routes of a tenant, wherever its store is: see `session-api.ts`. */

import type { Routes } from "../routes/routes.ts";

export type RoutesApi = Pick<Routes, keyof Routes>;
