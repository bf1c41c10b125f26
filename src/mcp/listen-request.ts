import { isPlainObject } from "../model/json.ts";

/** Whether a message is the 2026 protocol's request for notifications. */
export function isListen(message: unknown): boolean {
  return isPlainObject(message) && message["method"] === "subscriptions/listen";
}
