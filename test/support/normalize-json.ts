/** Output of two runs, made comparable: what is made up anew in each is named by when it came up. */

const ULID = /\b[0-9A-HJKMNP-TV-Z]{26}\b/g;
const HASH = /\b[0-9a-f]{64}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/**
 * Fields that hold a size, a duration or a place of the store's own. What is said of an ingested session
 * is a change of its own when it is sent to a server.
 */
const OWN_FIELDS =
  /"(address|db|seconds|database_bytes|wal_bytes|bytes|lag|segments|documents|changes)":\s*("[^"]*"|[\d.]+)/g;

/** Gives a function that remembers names from one output to the next. */
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
