/** Explains an empty result: each line has a cause and a remedy. */

import { survey } from "../../archive/ingest.ts";
import type { TenantApi } from "../../engine/interfaces/tenant-api.ts";
import type { SearchInput } from "../../engine/search.ts";
import { thisMachine } from "../../ingest/identity/identity.ts";
import { filtersOf } from "../../model/session-filters.ts";
import { type Context, isServer } from "../context.ts";
import { counted } from "../print.ts";
import { commandLine, quote } from "../program.ts";

/** Options that exclude sessions or messages, by their command-line names. */
const FILTERS: ReadonlyMap<keyof SearchInput, string> = new Map([
  ...filtersOf("search").map(([name, { flag = name }]) => [name, `--${flag}`] as const),
  ...(["role", "tool", "since", "until"] as const).map((name) => [name, `--${name}`] as const),
]);

const FILTER_WORD =
  /(?:^|\s)-?(?:agent|project|repo|workstation|git|model|role|tool|since|until):(?:"[^"]*"|\S+)/gi;

/** The time limit of looking for unread files. */
const SURVEY_MS = 2_000;

export async function explainNothing(
  context: Context,
  tenant: TenantApi,
  query: string,
  input: SearchInput,
  indexing: boolean,
): Promise<string[]> {
  const sessions = (await tenant.tenantStatus())?.sessions ?? 0;
  const unread = await unreadFiles(context, tenant);
  const ingest = commandLine(context, "ingest");
  const again = (options: string) => commandLine(context, `search ${quote(query)} ${options}`);
  if (sessions === 0) {
    const what =
      unread === 0 ? "" : ` ${counted(unread, "transcript")} of this machine can be read.`;
    return [`The store is empty.${what} To fill it: ${ingest}`];
  }
  const lines: string[] = [];
  const firstOf = async (text: string, change: SearchInput) =>
    (await tenant.searchSessions(text, { ...bareSearch(change), limit: 1 })).hits[0];
  const aside =
    input.branches === "all" ? undefined : await firstOf(query, { ...input, branches: "all" });
  if (aside !== undefined) {
    const what =
      aside.branch === "late"
        ? "It occurs on the branch of a file that came late"
        : "It occurs in edited messages or on another branch";
    lines.push(`${what}: ${again("--branches")}`);
  }
  const filters = [...FILTERS.keys()].filter((name) => input[name] !== undefined);
  const words = query.match(FILTER_WORD)?.map((word) => word.trim()) ?? [];
  const bare = query.replace(FILTER_WORD, " ").trim();
  if (filters.length + words.length > 0 && bare !== "") {
    const open = Object.fromEntries(
      Object.entries(input).filter(([name]) => !FILTERS.has(name as keyof SearchInput)),
    );
    if ((await firstOf(bare, open)) !== undefined) {
      const names = [...filters.map((name) => FILTERS.get(name)), ...words].join(", ");
      lines.push(`A filter leaves it out: there are hits without ${names}.`);
    }
  }
  // Unindexed messages may have the words.
  if (!indexing) lines.push(...(await unknownWords(tenant, bare === "" ? query : bare, input)));
  if (unread > 0)
    lines.push(
      `${counted(unread, "transcript")} of this machine ${unread === 1 ? "is" : "are"} not read yet: ${ingest}`,
    );
  return lines;
}

/** The same search, only to see whether it finds anything. */
function bareSearch(input: SearchInput): SearchInput {
  const { explain: _explain, perSession: _perSession, ...rest } = input;
  return { ...rest, contextBefore: 0, contextAfter: 0 };
}

/** Query words without a match in the store. */
async function unknownWords(
  tenant: TenantApi,
  query: string,
  { deadlineMs }: SearchInput,
): Promise<string[]> {
  const { explanation } = await tenant.searchSessions(query, {
    explain: true,
    limit: 1,
    match: "words",
    branches: "all",
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  // Terms of other fields, such as @path, are for the same words.
  const terms = (explanation?.terms ?? []).filter(({ term }) => /^[\p{L}\p{N}]/u.test(term));
  const typed = query.match(/[\p{L}\p{N}_-]+/gu) ?? [];
  // Terms are stems: the word is shown as typed.
  const wordOf = (term: string) =>
    typed.find((word) => word.toLowerCase().startsWith(term.slice(0, -1))) ?? term;
  const words = Map.groupBy(terms, ({ term }) => wordOf(term));
  const unknown = [...words].flatMap(([word, own]) =>
    own.every(({ documents }) => documents === 0) ? [word] : [],
  );
  if (unknown.length === 0) {
    return words.size > 1
      ? ["Each of these words occurs, but no message matches the whole query."]
      : [];
  }
  const list = unknown.map((term) => `"${term}"`).join(", ");
  for (const term of unknown) {
    const prefix = `${term.slice(0, Math.max(3, term.length - 2))}*`;
    if (term.length < 4) continue;
    const { hits } = await tenant.searchSessions(prefix, { limit: 1 });
    if (hits.length > 0)
      return [`No message has ${list}. Words that begin alike: search '${prefix}'`];
  }
  return [`No message has ${list}.`];
}

/** New or grown transcripts in the agents' places; 0 for a server's store. */
async function unreadFiles(context: Context, tenant: TenantApi): Promise<number> {
  if (isServer(context.address)) return 0;
  try {
    const signal = AbortSignal.timeout(SURVEY_MS);
    return (await survey(tenant, { environment: thisMachine(), signal })).files;
  } catch {
    // A hint must not fail the command.
    return 0;
  }
}
