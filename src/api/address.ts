/** Addresses as they may be shown: a password in one never leaves the process. */

/** The `user:password@` part of a URL. A password that nobody encoded may itself hold `@` or `/`. */
const USER_INFO = /(postgres(?:ql)?:\/\/[^\s/:@]*:)\S*@/gi;

/** `?password=…`, which libpq accepts, too. */
const PASSWORD_PARAMETER = /([?&](?:password|sslpassword)=)[^\s&#]*/gi;

/** Replaces every password in `text`, which may be an address or a message that holds one. */
export function hidePasswords(text: string): string {
  return text.replace(USER_INFO, "$1***@").replace(PASSWORD_PARAMETER, "$1***");
}
