import { describeLoss, type StoreLoss } from "../model/store-loss.ts";

/** The default handler: Node prints the warning once, to standard error. */
export function warnOfLoss(loss: StoreLoss): void {
  // Only the process that met a failover can acknowledge its loss.
  const command = loss.kind === "failover" ? "" : ", or doctor --accept-loss";
  process.emitWarning(`${describeLoss(loss)}; see acceptLosses${command}`, {
    type: "BackscrollWarning",
    code: "BACKSCROLL_LOSS",
  });
}
