/** Who speaks, where a role alone does not say it: several agents, or several people. */

interface Spoken {
  readonly role: string | null;
  readonly actor?: string | null;
}

/** The roles in which more than one speaks. Tools have names of their own. */
export function rolesOfSeveral(lines: readonly Spoken[]): ReadonlySet<string> {
  const actors = new Map<string, string>();
  const several = new Set<string>();
  for (const { role, actor } of lines) {
    if (role === null || role === "tool" || !actor) continue;
    if ((actors.get(role) ?? actor) !== actor) several.add(role);
    actors.set(role, actor);
  }
  return several;
}

/** `assistant`, or `assistant coder` where several speak. */
export function nameOf(
  role: string,
  actor: string | null | undefined,
  several: ReadonlySet<string>,
): string {
  return actor && several.has(role) ? `${role} ${actor.replace(/\s+/g, " ")}` : role;
}
