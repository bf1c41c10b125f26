/** Closes all resources, even if one fails. */

/** In order. Throws the first failure after all are done. */
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
