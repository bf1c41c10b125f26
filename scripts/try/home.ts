/**
 * A conversation whose transcript was deleted goes home: the agent resumes it, starts again with it in
 * place, and the model's next request must hold what was said before.
 */

import { existsSync, rmSync } from "node:fs";
import { CLIENTS } from "./clients.ts";
import { Installation } from "./installation.ts";
import type { MockModel } from "./mock-model.ts";

const SAID = "Remember that the walrus keeps the lock in slot 4711.";
const ASKED = "Which slot was it? Ask the heron.";

interface Resumed {
  readonly command: string | null;
  readonly restored: readonly { readonly path: string; readonly outcome: string }[] | null;
}

export async function tryHome(model: MockModel, isKept: boolean): Promise<number> {
  let failed = 0;
  for (const [name, client] of Object.entries(CLIENTS)) {
    const { goOn } = client;
    if (goOn === undefined) continue;
    const installation = Installation.create([client.package], model.url, isKept);
    const resume = async (...words: string[]): Promise<Resumed> =>
      JSON.parse(await installation.backscroll(["resume", ...words, "--json"])) as Resumed;
    try {
      await installation.setUp(name, client);
      const run = (words: readonly string[]) =>
        installation.run(words, client.env(installation.setting));
      await run(client.ask(SAID));
      await installation.backscroll(["ingest"]);
      const listed = await installation.backscroll(["list", "--agent", name, "--json"]);
      const [session] = (JSON.parse(listed) as { sessions: { id: string }[] }).sessions;
      const { restored: kept } = await resume(session?.id ?? "", "--restore", "--dry-run");
      for (const { path } of kept ?? []) rmSync(path);
      const { command, restored } = await resume(session?.id ?? "", "--restore");
      const id = command?.split(" ").at(-1) ?? "";
      const before = model.requests.length;
      await run(goOn(id, ASKED));
      const stays = (restored ?? []).every(({ path }) => existsSync(path));
      const requests = model.requests.slice(before).map((body) => JSON.stringify(body));
      const seen = requests.some((body) => body.includes(ASKED) && body.includes("4711"));
      console.log(`${name}: ${JSON.stringify(restored)}\n  ${command}`);
      console.log(seen && stays ? "  The model saw what was said before." : "  NOT SEEN");
      if (!seen || !stays) failed++;
    } finally {
      installation.remove();
    }
  }
  return failed === 0 ? 0 : 1;
}
