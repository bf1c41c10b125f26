/** Addresses for display: a password or a token in one never leaves the process. */

/** What precedes the password of a URL. */
const BEFORE_PASSWORD = /postgres(?:ql)?:\/\/[^/:@]*:/i;

/** The whole part for a server's address: a token may stand in place of a name. */
const SERVER_USER_INFO = /(https?:\/\/)[^\s/?#]*@/gi;

/** `?password=…`, which libpq accepts too, and tokens in a query. */
const SECRET_PARAMETER = /([?&#](?:password|sslpassword|token|access_token|key)=)[^\s&#]*/gi;

/** Replaces every secret in `text`, an address or a message with one. */
export function hidePasswords(text: string): string {
  return text
    .replace(/\S+/g, withoutPassword)
    .replace(SERVER_USER_INFO, "$1***@")
    .replace(SECRET_PARAMETER, "$1***");
}

/** An unencoded password may contain `@` or `/`: it ends at the last `@` of the word. */
function withoutPassword(word: string): string {
  const end = word.lastIndexOf("@");
  const before = end < 0 ? null : BEFORE_PASSWORD.exec(word.slice(0, end));
  if (before === null) return word;
  return `${word.slice(0, before.index + before[0].length)}***${word.slice(end)}`;
}
