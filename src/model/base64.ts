/** Base64 in every runtime. */

/** Bytes per call: the number of arguments is limited. */
const CHUNK_BYTES = 32_768;

/** Browsers have no Buffer, and Node 22 no `Uint8Array.toBase64`. */
export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES)));
  }
  return btoa(parts.join(""));
}

export function fromBase64(text: string): Uint8Array {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = characters.charCodeAt(place);
  return bytes;
}
