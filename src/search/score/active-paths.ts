/** Checks whether messages are on the active path of their session. */

import { ask, type SansIo, type SessionPath } from "../port.ts";
import type { TenantCache } from "../search-cache.ts";
import type { View } from "../snapshot.ts";
import { isOnPath } from "./filter/filter.ts";
import type { Best } from "./session/top-sessions.ts";

/** Active paths of sessions, cached or read by this search. */
export class Paths {
  readonly #cache: TenantCache;
  readonly #found = new Map<number, SessionPath>();

  constructor(cache: TenantCache) {
    this.#cache = cache;
  }

  readonly known = (session: number): SessionPath | undefined =>
    this.#found.get(session) ?? this.#cache.path(session);

  *find(sessions: readonly number[]): SansIo<void> {
    const paths = yield* ask<"paths">({ need: "paths", sessions });
    for (const path of paths) this.#found.set(path.session, path);
    // A deleted session has no path.
    for (const session of sessions) {
      if (!this.#found.has(session))
        this.#found.set(session, { session, isWhole: false, ranges: [] });
    }
    this.#cache.rememberPaths(paths);
  }
}

export function isActive(views: readonly View[], best: Best, paths: Paths): boolean {
  const path = paths.known(best.session);
  if (best.document < 0 || path === undefined || path.isWhole) return true;
  const facts = views[best.view]?.source.facts(best.document);
  return facts !== undefined && isOnPath(facts, path);
}
