/** Closing several things of which one may fail: what comes after it must not stay open. */

/** One after the other. Throws what failed first, when all are done. */
export async function closeAll(...parts: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts) {
    try {
      await part();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
