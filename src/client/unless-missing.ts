import { BackscrollError } from "../model/errors.ts";

/** What is not there is undefined, as the library's `find…` have it. */
export async function unlessMissing<Found>(find: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await find();
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return undefined;
    throw error;
  }
}
