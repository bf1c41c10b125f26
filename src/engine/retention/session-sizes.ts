/** Sizes of sessions, for maintenance. */

import { MAX_PAGE } from "../../model/limits.ts";
import type { SessionSize } from "../../store/records.ts";
import { checkKey, checkList, tooLarge } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";

export async function sessionSizes(
  engine: EngineContext,
  ids: readonly string[],
): Promise<readonly SessionSize[]> {
  const keys = checkList(ids, "ids").map((id, i) => checkKey(id, `ids[${i}]`));
  if (keys.length > MAX_PAGE) throw tooLarge("ids", MAX_PAGE, keys.length, "ask for the rest next");
  return engine.store.readSessionSizes(engine.tenant, keys);
}
