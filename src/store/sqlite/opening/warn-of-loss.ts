import { describeLoss, type StoreLoss } from "../../../model/store-loss.ts";

/** For a host that does not listen: Node prints it once, to standard error. */
export function warnOfLoss(loss: StoreLoss): void {
  process.emitWarning(`${describeLoss(loss)}; see acceptLosses, or doctor --accept-loss`, {
    type: "BackscrollWarning",
    code: "BACKSCROLL_LOSS",
  });
}
