import { BackscrollError } from "../model/errors.ts";

/** Maps not-found errors to undefined, as the library's `find…` do. */
export async function unlessMissing<Found>(find: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await find();
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return undefined;
    throw error;
  }
}
