/** Makes the output of two runs comparable: generated values are replaced by their order of appearance. */

const ULID = /\b[0-9A-HJKMNP-TV-Z]{26}\b/g;
const HASH = /\b[0-9a-f]{64}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/**
 * Fields with a size, a duration or a position of the store. At a server, the description of an ingested
 * session is a separate change.
 */
const OWN_FIELDS =
  /"(address|db|seconds|database_bytes|wal_bytes|bytes|lag|segments|documents|changes)":\s*("[^"]*"|[\d.]+)/g;

/** Gives a function that keeps its names across outputs. */
export function createNormalizer(folder: string): (text: string) => string {
  const names = new Map<string, string>();
  const nameOf = (id: string) => {
    const name = names.get(id) ?? `ID${names.size}`;
    names.set(id, name);
    return name;
  };
  return (text) =>
    text
      .replaceAll(folder, "FOLDER")
      .replace(ULID, nameOf)
      .replace(HASH, "HASH")
      .replace(TIME, "TIME")
      .replace(OWN_FIELDS, '"$1":0');
}
