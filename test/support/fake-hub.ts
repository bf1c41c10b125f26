/**
 * A hub that misbehaves, at the place of the real one. The argument says how: `drops` ends each
 * connection on which call 1 is asked; `moves` sends its caller away while it never answers call 1.
 */

import { createServer } from "node:net";
import { hubPlace } from "../../src/cli/pipe/place.ts";

const [, , how] = process.argv;
const place = hubPlace({});
if (place === undefined) throw new Error("there is no place for a hub");
let asked = 0;
createServer((socket) => {
  let rest = "";
  let isGreeted = false;
  const tell = (line: object) => socket.write(`${JSON.stringify(line)}\n`);
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!isGreeted) {
        isGreeted = true;
        tell({ backscroll: "welcome" });
        continue;
      }
      const { id } = JSON.parse(line) as { readonly id?: number };
      if (id === undefined) continue;
      if (id !== 1) {
        tell({ jsonrpc: "2.0", id, result: { content: [{ text: `asked ${asked}` }] } });
        continue;
      }
      asked++;
      if (how === "drops") {
        socket.destroy();
        return;
      }
      if (asked > 1) continue;
      tell({ backscroll: "move" });
      process.stdout.write("asked\n");
    }
  });
}).listen(place.socket, () => process.stdout.write("ready\n"));
