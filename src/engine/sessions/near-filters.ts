/** Values that a filter without a session may have meant: `claude` for `claude-code`. */

import { MAX_PAGE } from "../../model/limits.ts";
import type { Session } from "../../model/session.ts";
import { filtersOf, type SessionFilterName } from "../../model/session-filters.ts";
import { nearest, plainName } from "../../model/suggest.ts";
import type { SessionPosition } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";

/** Sessions that are looked at, the newest. */
const MOST = 2_000;
const MAX_SUGGESTED = 3;
/** A shorter text is a part of everything. */
const SHORTEST_PART = 3;

/** What a session has for each filter; a project and a repository also by their last part. */
const VALUES: Readonly<
  Partial<Record<SessionFilterName, (session: Session) => string | undefined>>
> = {
  agent: ({ agent }) => agent,
  owner: ({ owner }) => owner,
  source: ({ origin }) => origin.source,
  project: ({ origin }) => origin.projectPath?.split(/[\\/]/).at(-1),
  repo: ({ origin }) => origin.repo,
  gitBranch: ({ origin }) => origin.gitBranch,
  workstation: ({ origin }) => origin.workstation,
};

const WORDS = new Map(
  filtersOf("search").flatMap(([name, { word }]) => (word === undefined ? [] : [[word, name]])),
);
const WORD = new RegExp(`(?:^|\\s)(${[...WORDS.keys()].join("|")}):("[^"]*"|\\S+)`, "gi");

/** The filters in the text of a query. */
export function filtersIn(query: string): Readonly<Record<string, string>> {
  const found = [...query.matchAll(WORD)].map(([, word = "", value = ""]) => {
    return [WORDS.get(word.toLowerCase()) ?? "", value.replaceAll('"', "")];
  });
  return Object.fromEntries(found);
}

/** A sentence for each filter whose values no session has; none where another filter is the cause. */
export async function suggestFilters(
  { store, tenant }: EngineContext,
  given: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  const texts = Object.entries(given).flatMap(([name, value]) => {
    const [text] = Array.isArray(value) ? value : [value];
    return typeof text === "string" && text !== "" && (name in VALUES || name === "model")
      ? [[name, text] as const]
      : [];
  });
  if (texts.length === 0) return [];
  const sessions: Session[] = [];
  let after: SessionPosition | undefined;
  do {
    const at = after === undefined ? {} : { after };
    const page = await store.listSessions(tenant, {}, { limit: MAX_PAGE, ...at });
    sessions.push(...page.sessions);
    after = page.next;
  } while (after !== undefined && sessions.length < MOST);
  const models = await store.countModels(
    tenant,
    texts.some(([name]) => name === "model") ? sessions.map(({ id }) => id) : [],
  );
  return texts.flatMap(([name, text]) => {
    const read = VALUES[name as SessionFilterName];
    const all = read === undefined ? models.map(({ model }) => model) : sessions.map(read);
    const counts = Map.groupBy(
      all.filter((each) => each !== undefined && each !== ""),
      String,
    );
    const values = [...counts].sort(([, a], [, b]) => b.length - a.length).map(([value]) => value);
    const isId = name === "project" && sessions.some(({ origin }) => origin.projectId === text);
    if (isId || values.length === 0 || values.some((value) => isThat(value, text))) return [];
    const near = alike(text, values);
    const way = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
    return [`No session has the ${name} ${text}${way}`];
  });
}

function isThat(value: string, text: string): boolean {
  return value === text || value.endsWith(`/${text}`) || text.endsWith(`/${value}`);
}

function alike(text: string, values: readonly string[]): readonly string[] {
  const given = plainName(text);
  const parts = values.filter((value) => {
    const plain = plainName(value);
    return (
      (given.length >= SHORTEST_PART && plain.includes(given)) ||
      (plain.length >= SHORTEST_PART && given.includes(plain))
    );
  });
  if (parts.length > 0) return parts.slice(0, MAX_SUGGESTED);
  const near = nearest(text, values);
  return near === undefined ? [] : [near];
}
