/** The built code of a storage thread, which starts five times as fast as the sources. */
export function threadFile(): URL {
  return new URL("../../dist/storage-thread.js", import.meta.url);
}
