/** A request with any Host and without the headers that `fetch` adds. */

import { get, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";

export async function request(
  url: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  return new Promise((resolve, reject) => {
    get(url + path, { headers }, (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    }).on("error", reject);
  });
}

/** A JSON request whose second half is sent on request. */
export function slowRequest(
  url: string,
  body: string,
): { halfSent: Promise<void>; finish(): void; status: Promise<number> } {
  const middle = Math.floor(body.length / 2);
  const headers = { "content-type": "application/json", "content-length": body.length };
  const sent = httpRequest(url, { method: "POST", headers });
  const status = new Promise<number>((resolve, reject) => {
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
  });
  const halfSent = new Promise<void>((resolve) => {
    // Sent bytes need time to arrive.
    sent.write(body.slice(0, middle), () => setTimeout(resolve, 100));
  });
  return { halfSent, status, finish: () => sent.end(body.slice(middle)) };
}
