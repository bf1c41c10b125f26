import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../open.ts";

test("answers that come together leave the event loop turns between them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  try {
    await using engine = await open(join(folder, "store.db"));
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    let answers = 0;
    let inThisTurn = 0;
    let most = 0;
    const turn = () => {
      most = Math.max(most, inThisTurn);
      inThisTurn = 0;
      if (answers < 500) setImmediate(turn);
    };
    setImmediate(turn);
    // Far more than are handed out in one turn; the writer commits up to 256 of them together.
    await Promise.all(
      Array.from({ length: 500 }, async () => {
        await session.append({ role: "user", content: "x" });
        answers++;
        inThisTurn++;
      }),
    );
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(64);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
