/** The stores of `bench adapters`: each keeps texts as the messages of its framework, in one conversation. */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type * as AiSdk from "../src/adapters/ai-sdk/index.ts";
import type * as AssistantUi from "../src/adapters/assistant-ui/index.ts";
import type * as Claude from "../src/adapters/claude-agent-sdk/index.ts";
import type * as LangGraph from "../src/adapters/langgraph/index.ts";
import type * as Mastra from "../src/adapters/mastra/index.ts";
import type * as OpenAi from "../src/adapters/openai-agents/index.ts";
import type { TenantApi } from "../src/engine/interfaces.ts";

export interface Subject {
  /** Stores the entries of a turn in the framework's batches. */
  append(texts: readonly string[]): Promise<void>;
  /** Reads the whole conversation, and gives its length. */
  load(): Promise<number>;
}

export type SubjectName = "claude" | "openAi" | "ai" | "assistantUi" | "langGraph" | "mastra";

export const SUBJECTS: Readonly<Record<SubjectName, (memory: TenantApi) => Promise<Subject>>> = {
  claude: async (memory) => {
    const { claudeSessionStore } = await loadBuilt<typeof Claude>("claude-agent-sdk");
    const store = claudeSessionStore(memory);
    const key = { projectKey: "p", sessionId: "s" };
    return {
      append: (texts) => store.append(key, texts.map(toClaudeEntry)),
      load: async () => (await store.load(key))?.length ?? 0,
    };
  },
  openAi: async (memory) => {
    const { agentsSession } = await loadBuilt<typeof OpenAi>("openai-agents");
    const session = agentsSession(memory, { sessionId: "s" });
    return {
      append: (texts) =>
        session.addItems(texts.map((content, i) => ({ role: roleOf(i), content }))),
      load: async () => (await session.getItems()).length,
    };
  },
  ai: async (memory) => {
    const { chatStore } = await loadBuilt<typeof AiSdk>("ai-sdk");
    const chats = chatStore(memory);
    return {
      append: (texts) =>
        chats.upsert(
          "chat",
          ...texts.map((text, i) => ({
            id: crypto.randomUUID(),
            role: roleOf(i),
            parts: [{ type: "text" as const, text }],
          })),
        ),
      load: async () => (await chats.load("chat")).length,
    };
  },
  // The runtime of assistant-ui stores one message at a time.
  assistantUi: async (memory) => {
    const { threadHistory } = await loadBuilt<typeof AssistantUi>("assistant-ui");
    const history = threadHistory(memory, { threadId: "t" });
    let parentId: string | null = null;
    return {
      append: async (texts) => {
        for (const [i, text] of texts.entries()) {
          const id = crypto.randomUUID();
          const content = [{ type: "text", text }];
          const message = { id, role: roleOf(i), createdAt: new Date(), content, metadata: {} };
          await history.append({ parentId, message });
          parentId = id;
        }
      },
      load: async () => (await history.load()).messages.length,
    };
  },
  // One checkpoint for all of the texts. Plain JSON stands for LangGraph's serializer.
  langGraph: async (memory) => {
    const { checkpointSaver } = await loadBuilt<typeof LangGraph>("langgraph");
    const saver = checkpointSaver(memory, { serde: JSON_SERDE });
    const messages: unknown[] = [];
    const thread = { configurable: { thread_id: "t" } };
    let config: LangGraph.GraphConfig = thread;
    return {
      append: async (texts) => {
        for (const [i, content] of texts.entries()) {
          const type = i % 2 === 0 ? "human" : "ai";
          messages.push({ type, id: String(messages.length), content });
        }
        const checkpoint = checkpointOf(messages);
        const metadata = { source: "loop", step: messages.length, parents: {} };
        config = await saver.put(config, checkpoint, metadata, checkpoint.channel_versions);
      },
      load: async () => {
        const tuple = await saver.getTuple(thread);
        return (tuple?.checkpoint.channel_values["messages"] as unknown[] | undefined)?.length ?? 0;
      },
    };
  },
  mastra: async (memory) => {
    const { mastraMemory } = await loadBuilt<typeof Mastra>("mastra");
    // Mastra's own class has no effect on the figures.
    const MemoryStorage = class {} as unknown as new () => MastraDomain;
    return mastraSubject(mastraMemory(memory, { MemoryStorage }));
  },
};

/** Mastra's own store, of the packages in `folder`, on a file at `path`. */
export async function mastraLibSql(folder: string, path: string): Promise<Subject> {
  const module = createRequire(`${folder}/package.json`).resolve("@mastra/libsql");
  const { LibSQLStore } = (await import(pathToFileURL(module).href)) as {
    readonly LibSQLStore: new (options: {
      readonly id: string;
      readonly url: string;
    }) => { init(): Promise<void>; readonly stores: { readonly memory: MastraDomain } };
  };
  const store = new LibSQLStore({ id: "beside", url: `file:${path}` });
  await store.init();
  return mastraSubject(store.stores.memory);
}

interface MastraDomain {
  saveThread(input: { readonly thread: object }): Promise<unknown>;
  saveMessages(input: { readonly messages: readonly object[] }): Promise<unknown>;
  listMessages(input: {
    readonly threadId: string;
    readonly perPage: false;
  }): Promise<{ readonly messages: readonly unknown[] }>;
}

async function mastraSubject(domain: MastraDomain): Promise<Subject> {
  const now = new Date();
  const thread = { id: "t", resourceId: "r", title: "", createdAt: now, updatedAt: now };
  await domain.saveThread({ thread });
  const toMessage = (text: string, i: number) => ({
    id: crypto.randomUUID(),
    threadId: "t",
    resourceId: "r",
    role: roleOf(i),
    createdAt: new Date(),
    content: { format: 2, parts: [{ type: "text", text }] },
  });
  return {
    append: async (texts) => {
      await domain.saveMessages({ messages: texts.map(toMessage) });
    },
    load: async () =>
      (await domain.listMessages({ threadId: "t", perPage: false })).messages.length,
  };
}

/** Requests and answers in turns. */
function roleOf(index: number): "user" | "assistant" {
  return index % 2 === 0 ? "user" : "assistant";
}

export function toClaudeEntry(content: string, index: number): Claude.ClaudeEntry {
  const role = roleOf(index);
  return { type: role, uuid: crypto.randomUUID(), sessionId: "s", message: { role, content } };
}

export const JSON_SERDE: LangGraph.Serializer = {
  dumpsTyped: async (value) => ["json", Buffer.from(JSON.stringify(value ?? null))],
  loadsTyped: async (_type, bytes) => JSON.parse(Buffer.from(bytes as Uint8Array).toString()),
};

export function checkpointOf(messages: readonly unknown[]): {
  readonly v: number;
  readonly id: string;
  readonly ts: string;
  readonly channel_values: { readonly messages: readonly unknown[] };
  readonly channel_versions: { readonly messages: number };
  readonly versions_seen: Readonly<Record<string, never>>;
} {
  return {
    v: 4,
    id: String(messages.length).padStart(9, "0"),
    ts: new Date().toISOString(),
    channel_values: { messages: [...messages] },
    channel_versions: { messages: messages.length },
    versions_seen: {},
  };
}

export async function loadBuilt<Module>(path: string): Promise<Module> {
  const module = new URL(`../dist/adapters/${path}/index.js`, import.meta.url);
  return (await import(module.href)) as Module;
}
