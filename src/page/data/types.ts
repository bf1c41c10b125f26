/** Short names for the client's result types. */

import type { RemoteEngine, RemoteSession } from "../../client/index.ts";

export type Memory = Awaited<ReturnType<RemoteEngine["listMemories"]>>[number];
export type Fact = Awaited<ReturnType<RemoteEngine["listFacts"]>>[number];
export type Session = Awaited<ReturnType<RemoteEngine["getSessionMeta"]>>;
export type Entry = Awaited<ReturnType<RemoteEngine["getEntry"]>>;
export type Block = Entry["blocks"][number];
export type BlockOf<Type extends Block["type"]> = Extract<Block, { readonly type: Type }>;
export type Change = Awaited<ReturnType<RemoteEngine["listChanges"]>>["changes"][number];
export type SearchResult = Awaited<ReturnType<RemoteEngine["searchSessions"]>>;
export type Hit = SearchResult["hits"][number];
export type Related = Awaited<ReturnType<RemoteEngine["relatedSessions"]>>;
export type WindowItem = Hit["window"][number];
export type Summary = Awaited<ReturnType<RemoteSession["summaries"]>>[number];
export type Branch = Awaited<ReturnType<RemoteSession["branches"]>>[number];
export type Stats = Awaited<ReturnType<RemoteEngine["stats"]>>;
export type Sum = Stats["total"];
