import { describeLoss, type StoreLoss } from "../model/store-loss.ts";

/** For a host that does not listen: Node prints it once, to standard error. */
export function warnOfLoss(loss: StoreLoss): void {
  // A failover is known to this process only, so another one cannot accept it.
  const command = loss.kind === "failover" ? "" : ", or doctor --accept-loss";
  process.emitWarning(`${describeLoss(loss)}; see acceptLosses${command}`, {
    type: "BackscrollWarning",
    code: "BACKSCROLL_LOSS",
  });
}
