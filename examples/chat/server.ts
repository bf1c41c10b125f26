/**
 * A chat app: `useChat` in the browser, Hono and Backscroll behind it.
 *
 *     npm run chat
 *
 * Chats, their versions and running answers are in `chat.db` (`CHAT_DB`). The model is any that speaks
 * OpenAI's protocol: `BACKSCROLL_MODEL_URL`, `BACKSCROLL_MODEL`, `BACKSCROLL_MODEL_KEY`.
 */

import { createServer } from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { getRequestListener } from "@hono/node-server";
import {
  convertToModelMessages,
  createIdGenerator,
  createUIMessageStreamResponse,
  streamText,
  toUIMessageStream,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { BackscrollError, open } from "backscroll";
import { chatStore, resumableStreams } from "backscroll/ai";
import { Hono } from "hono";
import { rolldown } from "rolldown";

const { env } = process;
const provider = createOpenAICompatible({
  name: "model",
  baseURL: env["BACKSCROLL_MODEL_URL"] ?? "http://localhost:11434/v1",
  includeUsage: true,
  ...(env["BACKSCROLL_MODEL_KEY"] ? { apiKey: env["BACKSCROLL_MODEL_KEY"] } : {}),
});
const model = provider(env["BACKSCROLL_MODEL"] ?? "qwen3");

const memory = await open(env["CHAT_DB"] ?? "chat.db");
const chats = chatStore(memory, { agent: "helper" });
const streams = resumableStreams(memory);

/** Who asks: here the one person at this machine. Take it from your login, never from the body. */
const author = "me";

const app = new Hono();

app.post("/api/chat", async (c) => {
  const { id, ...asked } = await c.req.json();
  const messages = await validateUIMessages<UIMessage>({
    messages: await chats.receive(id, asked, { author }),
  });
  const producer = await streams.start(id);
  const result = streamText({
    model,
    instructions: "You are a helpful assistant. Be brief.",
    messages: await convertToModelMessages(messages),
    abortSignal: producer.signal,
  });
  const chunks = toUIMessageStream({
    stream: result.stream,
    originalMessages: messages,
    generateMessageId: createIdGenerator({ prefix: "msg" }),
    onEnd: ({ messages: all }) => chats.save(id, all, { author, result }),
  });
  return createUIMessageStreamResponse({ stream: producer.pipe(chunks) });
});

// What a page that was reloaded, or another one, sees of a running answer; and how it ends.
app.get("/api/chat/:id/stream", (c) => streams.resumeResponse(c.req.param("id")));
app.delete("/api/chat/:id/stream", async (c) => c.json(await streams.stop(c.req.param("id"))));

app.get("/api/chats", async (c) => c.json((await chats.list()).chats));
app.get("/api/chats/:id", async (c) => c.json(await chats.load(c.req.param("id"))));
app.delete("/api/chats/:id", async (c) => c.json((await chats.delete(c.req.param("id"))) ?? null));
app.put("/api/chats/:id/title", async (c) => {
  await chats.rename(c.req.param("id"), (await c.req.json()).title);
  return c.json(null);
});
app.get("/api/chats/:id/versions/:message", async (c) =>
  c.json(await chats.versions(c.req.param("id"), c.req.param("message"))),
);
app.post("/api/chats/:id/choose/:entry", async (c) =>
  c.json(await chats.choose(c.req.param("id"), c.req.param("entry"))),
);

app.onError((error, c) => {
  if (!(error instanceof BackscrollError)) console.error(error);
  const status = BackscrollError.is(error, "invalid_input") ? 400 : 500;
  return c.json({ error: error.message }, status);
});

const script = await bundlePage();
app.get("/page.js", (c) => c.body(script, 200, { "Content-Type": "text/javascript" }));
app.get("/", (c) =>
  c.html(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Chat</title>
<style>
  body { display: grid; grid-template-columns: 14rem 1fr; max-width: 60rem; margin: 0 auto;
    gap: 2rem; padding: 1rem; font: 1rem/1.5 system-ui; color-scheme: light dark }
  nav button { display: block; width: 100%; text-align: left; overflow: hidden;
    white-space: nowrap; text-overflow: ellipsis }
  article { margin: 1rem 0; white-space: pre-wrap }
  article.user { font-weight: 600 }
  form { display: flex; gap: .5rem } textarea { flex: 1; font: inherit }
</style>
<div id="chat"></div>
<script type="module" src="/page.js"></script>`),
);

/** The page's program with `useChat`, on Preact in React's place: one file. */
async function bundlePage(): Promise<string> {
  const bundle = await rolldown({
    input: new URL("page.tsx", import.meta.url).pathname,
    transform: {
      define: { "process.env.NODE_ENV": '"production"' },
      jsx: { runtime: "automatic", importSource: "preact" },
    },
    resolve: {
      alias: {
        "react/jsx-runtime": "preact/jsx-runtime",
        "react-dom": "preact/compat",
        react: "preact/compat",
      },
    },
    logLevel: "silent",
  });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false, minify: true });
  await bundle.close();
  return output[0].code;
}

const server = createServer(getRequestListener(app.fetch));
server.listen(Number(env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  console.log(`Chat: http://127.0.0.1:${port}/`);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.closeAllConnections();
    server.close(() => void memory.close().then(() => process.exit(0)));
  });
}
