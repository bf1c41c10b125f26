/** Preloaded into every process and thread of a test: logs each target that it connects to or looks up. */

import dgram from "node:dgram";
import dns from "node:dns";
import { appendFileSync } from "node:fs";
import net from "node:net";

const log = (kind, target) => {
  appendFileSync(
    process.env.CONNECTIONS,
    `${JSON.stringify({ kind, target: String(target), argv: process.argv.slice(2, 4) })}\n`,
  );
};

/** A path: a Unix socket, a pipe. Both forms of arguments end here, also those of `fetch`. */
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  const [options] = Array.isArray(given[0]) ? given[0] : given;
  const isPort = typeof options === "number";
  const host = isPort ? (typeof given[1] === "string" ? given[1] : "localhost") : options.host;
  log("connect", options.path ?? (typeof options === "string" ? options : (host ?? "localhost")));
  return connect.apply(this, given);
};
const send = dgram.Socket.prototype.send;
dgram.Socket.prototype.send = function (...given) {
  log("send", given.findLast((each) => typeof each === "string") ?? "connected");
  return send.apply(this, given);
};
for (const place of [dns, dns.promises]) {
  for (const name of Object.keys(place).filter((each) => /^(lookup|resolve|reverse)/.test(each))) {
    const call = place[name];
    if (typeof call !== "function") continue;
    place[name] = (host, ...rest) => {
      log(name, host);
      return call.call(place, host, ...rest);
    };
  }
}
