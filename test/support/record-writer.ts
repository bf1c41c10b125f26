/**
 * A process that writes pairs of records until it is killed: each write sets `left` and `right` to the
 * same number, and prints it after the acknowledgement.
 */

import { open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

const { address } = await receiveTask<{ readonly address: string }>();
const engine = await open(address, { inThread: true });
for (let n = 1; ; n++) {
  const put = (key: string) => ({ put: { namespace: "pair", key, value: n, text: `pair ${n}` } });
  await engine.records.write([put("left"), put("right")]);
  say({ n });
}
