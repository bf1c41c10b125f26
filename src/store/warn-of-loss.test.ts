import { expect, onTestFinished, test, vi } from "vitest";
import type { StoreLoss } from "../model/store-loss.ts";
import { warnOfLoss } from "./store-options.ts";

test("a warning names the loss and the command that acknowledges it", () => {
  const emitted = vi.spyOn(process, "emitWarning").mockReturnValue();
  onTestFinished(() => emitted.mockRestore());
  const loss = { foundAt: 0, tenant: "acme", changes: 3 };
  const losses: StoreLoss[] = [
    { ...loss, kind: "failover" },
    { ...loss, kind: "index" },
  ];
  for (const each of losses) warnOfLoss(each);
  const told = { type: "BackscrollWarning", code: "BACKSCROLL_LOSS" };
  expect(emitted.mock.calls).toEqual([
    [expect.stringMatching(/3 changes of tenant acme.*; see acceptLosses$/), told],
    [expect.stringMatching(/3 changes that.*; see acceptLosses, or doctor --accept-loss$/), told],
  ]);
});
