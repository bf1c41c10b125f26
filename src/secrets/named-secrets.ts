/**
 * Secrets that are known by what stands before them: a name and an assignment, a flag of a command,
 * a header, a URL. Rules are data: a pattern whose first group stays and whose group `value` is
 * masked, and how strong the evidence of its name is. Every pattern begins with a literal or a bounded part.
 */

/**
 * How a value is judged: a `password` may be a short word, a `token` is long and has a digit or
 * quotes, a `key` is random, and `any` value is a secret at that place.
 */
export type Evidence = "password" | "token" | "key" | "any";

export interface NamedRule {
  /** Groups: `before` stays, `value` is masked; `name` decides the evidence if there is none. */
  readonly pattern: RegExp;
  readonly evidence?: Evidence;
  /** A cheap test: without one of these texts the pattern is not tried. Empty: `HAS_NAME` is. */
  readonly hints: readonly string[];
}

/** Names, at the end of an identifier, by their evidence. */
const NAMES: Readonly<Record<Exclude<Evidence, "any">, string>> = {
  password: "password|passwd|passphrase|passcode|passwort|kennwort|contraseña|pwd|pass",
  token:
    "api[\\s_-]?key|access[\\s_-]?key|private[\\s_-]?key|secret[\\s_-]?key|account[\\s_-]?key|encryption[\\s_-]?key|signing[\\s_-]?key|master[\\s_-]?key|auth[\\s_-]?key|secret|token|credentials?|x-amz-signature|x-amz-security-token|jwt|auth",
  key: "key|signature|sig|cert|salt|pepper|hash[_-]?key",
};

/** The evidence of a name as it was found. */
export function evidenceOf(name: string): Evidence {
  if (PASSWORD_NAME.test(name)) return "password";
  return TOKEN_NAME.test(name) ? "token" : "key";
}

const PASSWORD_NAME = new RegExp(`^(?:${NAMES.password})`, "i");
const TOKEN_NAME = new RegExp(`^(?:${NAMES.token})`, "i");

/** Names that count only as a word of their own, or as the last word of an identifier. */
export const SHORT_NAME: RegExp = /^(?:pass|pwd|auth|key|sig|cert|salt|jwt)$/i;

/** A cheap test for names with an assignment: ends of the names above. */
export const HAS_NAME: RegExp =
  /(?:word|wd|phrase|code|wort|eña|ass|key|ret|ken|ials?|ture|jwt|auth|sig|cert|salt|pper)(?:[_-]?(?:base|value|string|\d{1,2}))?[\\"'`\]]{0,5}(?:\s(?:is|are|was))?\s{0,3}[:=,(>]/i;

const NAME = `(?<name>${Object.values(NAMES).join("|")})(?:[_-]?(?:base|value|string|\\d{1,2}))?`;
/** What is in quotes, or a word. A backslash before a quote is JSON in a string of JSON. */
const QUOTED =
  "(?<quote>\\\\{0,3}[\"'`])(?<quoted>(?:[^\\s\"'`\\\\]|\\\\(?![\"'`nrt\\\\])){1,4096})";
const BARE =
  "(?<bare>[^\\s\"'`,;<>(){}[\\]$=|&\\\\](?:[^\\s\"'`,;<>(){}[\\]&\\\\]|&(?![\\w.-]{1,64}=)){0,4095})";
const VALUE = `(?:${QUOTED}|${BARE})`;

export const NAMED_RULES: readonly NamedRule[] = [
  // `DB_PASSWORD=…`, `"apiKey": "…"`, `API key is: …`, `const token: string = "…"`, `'key' => '…'`;
  // `define('DB_PASSWORD', '…')`, `setPassword("…")`, `<password>…</password>`.
  {
    pattern: new RegExp(
      `(?<before>${NAME}(?:\\\\{0,3}["'\`]?\\]?(?:\\s(?:is|are|was))?(?:\\s{0,3}:\\s{0,2}(?:string|str))?\\s{0,3}(?::=|=>|[:=])\\s{0,3}(?:[bfru]{1,2}(?=["']))?|["']\\s{0,2},\\s{0,3}(?=["'])|\\((?=["'])|>(?=[^\\s<>"']{4,4096}<\\/)))${VALUE}`,
      "gi",
    ),
    hints: [],
  },
  // `<add key="ApiKey" value="…"/>`.
  {
    pattern: new RegExp(
      `(?<before>(?<=${NAME})["']\\s{1,3}value=["'])(?<bare>[^\\s<>"'$]{4,4096})`,
      "gi",
    ),
    hints: ["value="],
  },
  // `--password …`, `--auth-token …`.
  {
    pattern: new RegExp(
      `(?<before>(?<![\\w])-(?:[a-z0-9]{1,20}[-_]){0,3}${NAME}\\s{1,3})(?!-)${VALUE}`,
      "gi",
    ),
    evidence: "password",
    hints: [" -"],
  },
  // `curl -u user:…`, `--user user:…`, `--proxy-user user:…`.
  {
    pattern:
      /(?<before>\s(?:-u|--(?:proxy-)?user)[\s=]{1,3}["']?[^\s:"'$<]{1,128}:)(?<bare>[^\s"'$<@/]{1,256})(?![^\s"'])/g,
    evidence: "any",
    hints: ["-u"],
  },
  // `mysql -p…`, `sshpass -p …`, `docker login -p …`, `redis-cli -a …`, `-passin pass:…`.
  {
    pattern:
      /(?<before>\b(?:mysql|mysqldump|mariadb|mysqladmin)\b[^\n|;&]{0,200}?\s-p)(?<bare>[^\s"'$<-][^\s"'$<]{2,128})/g,
    evidence: "any",
    hints: [" -p"],
  },
  {
    pattern:
      /(?<before>\b(?:sshpass\s{1,3}-p|login\b[^\n|;&]{0,200}?\s-p|redis-cli\b[^\n|;&]{0,120}?\s-a|ldap\w{3,8}\b[^\n|;&]{0,200}?\s-w)\s{0,3}["']?)(?<bare>[^\s"'$<-][^\s"'$<]{2,256})/g,
    evidence: "password",
    hints: [" -p", " -a ", " -w "],
  },
  {
    pattern: /(?<before>\bpass:)(?<bare>[^\s"'$<]{4,256})/g,
    evidence: "password",
    hints: ["pass:"],
  },
  // `Authorization: Bearer …` and of any scheme; a bare bearer token.
  {
    pattern:
      /(?<before>authorization\\{0,3}["']?\s{0,3}[:=,]\s{0,3}\\{0,3}["'`]?(?:(?:bearer|basic|token|apikey|digest|negotiate|splunk|bot|key|genie ?key|aws4-hmac-sha256)\s{1,3})?)(?<bare>[\w.~+/=:-]{8,})/gi,
    evidence: "token",
    hints: ["uthorization"],
  },
  {
    pattern: /(?<before>(?:\b|(?<=\\[bfnrt]))(?:bearer|basic)\s{1,3})(?<bare>[\w.~+/=-]{16,})/gi,
    evidence: "token",
    hints: ["earer ", "asic "],
  },
  // `Cookie: a=…; b=…`, `Set-Cookie: …`, `curl -b a=…`.
  {
    pattern:
      /(?<before>(?:cookie\\{0,3}["']?\s{0,3}:\s{0,3}\\{0,3}["'`]?|\s(?:-b|--cookie)\s{1,3}["']?)[\w.-]{1,64}=)(?<bare>[^\s"'`[\\;<$][^"'`\r\n\\]{5,4095})/gi,
    evidence: "any",
    hints: ["ookie", " -b "],
  },
  // `postgres://user:…@host`, `redis://:…@host`, `https://TOKEN@host`.
  {
    pattern: /(?<before>:\/\/)(?<bare>[\w~.+%-]{16,512})(?::x-oauth-basic)?@/g,
    evidence: "token",
    hints: ["://"],
  },
  {
    pattern: /(?<before>:\/\/[^\s:/@?#"'<>]{0,256}:)(?<bare>[^\s@/"'<>$[{][^\s@/"'<>]{0,511})@/g,
    evidence: "any",
    hints: ["://"],
  },
  // Addresses that let anyone post.
  {
    pattern:
      /(?<before>(?:hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/|hooks\.zapier\.com\/hooks\/catch\/|\.webhook\.office\.com\/webhookb2\/))(?<bare>[\w/@.?=&%-]{16,})/g,
    evidence: "any",
    hints: ["hook"],
  },
  // `.netrc` and `.pgpass`.
  {
    pattern:
      /(?<before>\blogin\s{1,3}[^\s]{1,128}\s{1,8}password\s{1,3})(?<bare>[^\s"'$<[]{1,256})/g,
    evidence: "any",
    hints: ["login"],
  },
  {
    pattern:
      /(?<before>^[\w.*-]{1,128}:(?:\d{2,5}|\*):[\w*-]{1,64}:[\w.*-]{1,64}:)(?<bare>[^\s:/[][^\s:]{3,255})$/gm,
    evidence: "any",
    hints: [":5432:", ":*:"],
  },
  // Hashes of passwords: bcrypt, crypt, Argon2, scrypt, htpasswd.
  {
    pattern:
      /(?<before>)(?<bare>\$(?:2[abxy]|1|5|6|7|y|apr1|argon2(?:id|i|d)|scrypt|pbkdf2-sha\d{3})\$[\w./$=,+-]{20,512})/g,
    evidence: "any",
    hints: ["$"],
  },
];

/** Whether any of the texts that rules begin with is there. */
export const HAS_HINT: RegExp = new RegExp(
  NAMED_RULES.flatMap(({ hints }) => hints.map((hint) => hint.replace(/[$*]/g, "\\$&"))).join("|"),
);

/** What stands for a secret, or is code that yields one. */
export const NO_SECRET: RegExp =
  /^(?:string|number|boolean|bool|str|int|bytes|buffer|object|any|null|none|nil|undefined|unknown|true|false|yes|no|on|off|optional|required|field|text|hidden|input|password|passwd|pwd|pass|secret|token|key|credentials|value|basic|bearer|empty|missing|invalid|expired|wrong|default|placeholder|example|sample|dummy|test|testing|changeme|change[_-]me|todo|tbd|foo|bar|n\/a|redacted|masked|hidden|removed|\*+|x+|\.+|-+|_+|0+|#+)[.?!:]?$|^(?:process|os|env|import|this|self|ctx|context|config|cfg|settings|options|opts|args|argv|params|props|req|request|res|response|data|user|state|secrets|vars|var|local|module|credentials|session|event|input|body|payload|std|str)\b\.|^\$|^[<{%]|^\w*[<{]|your[_-]|[_-]here$|^(?:my|some|the|new|old|any|your)[_-]?(?:password|secret|token|key)|\.\.\.|…|xxxx|\*\*\*|^@|^\/\/|^!|^\|/i;
