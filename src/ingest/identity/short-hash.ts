import { createHash } from "node:crypto";

/** The first eight hex digits of SHA-256: the form of workstation and project ids. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, 8);
}
