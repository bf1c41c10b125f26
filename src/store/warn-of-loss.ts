import { describeLoss, type StoreLoss } from "../model/store-loss.ts";

/** The default handler: Node prints the warning once, to standard error. */
export function warnOfLoss(loss: StoreLoss): void {
  // Only this process knows of a failover, so no other can acknowledge it.
  const command = loss.kind === "failover" ? "" : ", or doctor --accept-loss";
  process.emitWarning(`${describeLoss(loss)}; see acceptLosses${command}`, {
    type: "BackscrollWarning",
    code: "BACKSCROLL_LOSS",
  });
}
