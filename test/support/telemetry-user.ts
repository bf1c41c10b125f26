/** A process that prints which OpenTelemetry packages were resolved, with and without telemetry. */

import { registerHooks } from "node:module";
import { open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

await receiveTask();
const asked: string[] = [];
registerHooks({
  resolve(name, context, next) {
    if (name.startsWith("@opentelemetry/")) asked.push(name);
    return next(name, context);
  },
});
const memory = await open(":memory:", { inThread: true });
const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
await session.append({ role: "user", content: "Where do okapis live?" });
await memory.searchSessions("okapi");
await memory.close();
say([...asked]);
await open(":memory:", { inThread: true, telemetry: "spans" }).then(
  (traced) => traced.close(),
  () => undefined,
);
say([...asked]);
