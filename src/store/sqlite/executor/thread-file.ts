/** The path of a storage thread's code. The built file has another extension than the source. */
export function threadFile(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./storage-thread.${extension}`, import.meta.url);
}
