/** Addresses for display: a password or a token in one never leaves the process. */

/** The `user:password@` part of a URL. An unencoded password may contain `@` or `/`. */
const USER_INFO = /(postgres(?:ql)?:\/\/[^\s/:@]*:)\S*@/gi;

/** The whole part for a server's address: a token may stand in place of a name. */
const SERVER_USER_INFO = /(https?:\/\/)[^\s/?#]*@/gi;

/** `?password=…`, which libpq accepts too, and tokens in a query. */
const SECRET_PARAMETER = /([?&#](?:password|sslpassword|token|access_token|key)=)[^\s&#]*/gi;

/** Replaces every secret in `text`, an address or a message with one. */
export function hidePasswords(text: string): string {
  return text
    .replace(USER_INFO, "$1***@")
    .replace(SERVER_USER_INFO, "$1***@")
    .replace(SECRET_PARAMETER, "$1***");
}
