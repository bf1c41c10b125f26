/**
 * Secrets that are known by what stands before them: a name and an assignment, a flag of a command,
 * a header, a URL. Rules are data: a pattern whose first group stays and whose group `value` is
 * masked, and how strong the evidence of its name is. Every pattern begins with a literal or a bounded part.
 */

import { type Hint, lineFinder } from "./known-keys.ts";

/**
 * How a value is judged: a `password` may be a short word, a `token` is long and has a digit or
 * quotes, a `key` is random, and `any` value is a secret at that place.
 */
export type Evidence = "password" | "token" | "key" | "any";

export interface NamedRule {
  /** Groups: `before` stays, `value` is masked; `name` decides the evidence if there is none. */
  readonly pattern: RegExp;
  readonly evidence?: Evidence;
  /**
   * A cheap test: the pattern is tried only on lines with one of these texts, which are in lower
   * case and have three characters or more. Each begins where its text is rare: `asic ` costs less
   * than `basic `.
   */
  readonly hints: readonly string[];
  /** A pattern of what follows a hint, where the hint alone is frequent. */
  readonly context?: string;
}

/** Names, at the end of an identifier, by their evidence. */
const NAMES: Readonly<Record<Exclude<Evidence, "any">, string>> = {
  password:
    "password|passwd|passphrase|passcode|passwort|kennwort|contraseña|pwd|pass|psk|(?:bind|root|admin|user|smtp)pw",
  token:
    "api[\\s_-]?key|access[\\s_-]?key|private[\\s_-]?key(?:[_-]id)?|secret[\\s_-]?key|account[\\s_-]?key|encryption[\\s_-]?key|signing[\\s_-]?key|master[\\s_-]?key|auth[\\s_-]?key|secret|token|credentials?|x-amz-signature|x-amz-security-token|jwt|auth",
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
export const SHORT_NAME: RegExp = /^(?:pass|pwd|psk|auth|key|sig|cert|salt|jwt)$/i;

/** Parts of the names above, each with what an assignment, a flag or a statement has after it. */
const NAME_HINTS =
  "pass pwd kennw ntrase psk ndpw otpw inpw erpw tppw key ecret token edential sig cert salt pepper jwt uth".split(
    " ",
  );
const NAME_CONTEXT =
  "[\\w-]{0,24}(?:[\\\\\"'`\\]\\s]{0,5}(?:is|are|was)?\\s{0,3}[:=>]|[\"']\\s{0,3},|\\([\"']|[\"']\\s{1,3}value=|\\t|\\s{1,3}[\"']|(?<=-[\\w.-]{0,60})\\s)";

const NAME = `(?<name>${Object.values(NAMES).join("|")})(?:[_-]?(?:base|value|string|data|\\d{1,2}))?`;
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
      `(?<before>${NAME}(?:\\\\{0,3}["'\`]?\\]?(?:\\s(?:is|are|was))?(?:\\s{0,3}:\\s{0,2}(?:string|str))?\\s{0,3}(?::=|=>|[:=])\\s{0,3}(?:[bfru]{1,2}(?=["']))?|["']\\s{0,2},\\s{0,3}(?=["'])|\\((?=["'])|["']?\\s{0,2}>(?=[^\\s<>"']{4,4096}<\\/)))${VALUE}`,
      "gi",
    ),
    hints: NAME_HINTS,
    context: NAME_CONTEXT,
  },
  // `<add key="ApiKey" value="…"/>`.
  {
    pattern: new RegExp(
      `(?<before>(?<=${NAME})["']\\s{1,3}value=)(?<quote>["'])(?<quoted>[^\\s<>"'$]{4,4096})`,
      "gi",
    ),
    hints: ["lue="],
  },
  // `password<tab>…`, `PASSWORD '…'` of SQL.
  {
    pattern:
      /(?<before>\b(?<name>password|passwd|passphrase|pwd)(?:\t{1,3}|\s{1,3}(?=["'][^\s"'\\]{4,256}["'])))(?:(?<quote>["'])(?<quoted>[^\s"'\\]{4,256})|(?<bare>[^\s"'`,;<>(){}[\]$=|\\]{4,256})(?![^\s]))/gi,
    evidence: "password",
    hints: NAME_HINTS,
    context: NAME_CONTEXT,
  },
  {
    pattern:
      /(?<before>\bidentified\s{1,3}(?:with\s{1,3}[\w"'`]{1,40}\s{1,3})?(?:by|as)\s{1,3}(?:password\s{1,3})?)(?:(?<quote>\\{0,3}["'])(?<quoted>[^\s"'\\]{3,256})|(?<bare>[^\s"'\\$<;:&]{6,256}(?=;)))/gi,
    evidence: "password",
    hints: ["ified "],
  },
  // `--password …`, `--auth-token …`, `-storepass …`.
  {
    pattern: new RegExp(
      `(?<before>(?<![\\w])-(?:[a-z0-9]{1,20}[-_]){0,3}(?:store|key|user|admin|root|old|new|src|dest)?${NAME}\\s{1,3})(?!-)${VALUE}`,
      "gi",
    ),
    evidence: "password",
    hints: NAME_HINTS,
    context: NAME_CONTEXT,
  },
  // `curl -u user:…`, `--user user:…`, `--proxy-user user:…`.
  {
    pattern:
      /(?<before>\s(?:-u|--(?:proxy-)?user)[\s=]{1,3}["']?[^\s:"'$<]{1,128}:)(?<bare>[^\s"'$<@/]{1,256})(?![^\s"'])/g,
    evidence: "any",
    hints: [" -u", " --user", " --proxy-user"],
    context: "[\\s=]{1,3}[^\\s:]{1,128}:",
  },
  // `http -a user:…`.
  {
    pattern:
      /(?<before>\b(?:https?|xhs?)\s[^\n|;&]{0,200}?(?<=\s)(?:-a|--auth)[\s=]{1,3}["']?[^\s:"'$<]{1,128}:)(?<bare>[^\s"'$<@/]{1,256})(?![^\s"'])/g,
    evidence: "any",
    hints: [" -a ", " --auth"],
  },
  // `mysql -p…`, `7z -p…`: the flag and its value are one word.
  {
    pattern:
      /(?<before>\b(?:mysql|mysqldump|mariadb|mysqladmin|7z[ar]?|rar|unrar)\b[^\n|;&]{0,200}?\s-p["']?)(?<bare>[^\s"'$<-][^\s"'$<]{2,128})/g,
    evidence: "any",
    hints: ["mysql", "iadb", "7z ", "7za", "7zr", "rar "],
    context: "[^\\n]{0,220}\\s-p",
  },
  // `sshpass -p …`, `docker login -p …`, `mongo -p …`, `zip -P …`, `redis-cli -a …`, `ldapsearch -w …`.
  {
    pattern:
      /(?<before>\b(?:sshpass\s{1,3}-p|(?:login|mongo\w{0,10}|cqlsh|influx|clickhouse-client)\b[^\n|;&]{0,200}?\s-p|(?:zip|unzip|sqlcmd|bcp|isql|osql|tsql|mosquitto_\w{3}|ipmitool)\b[^\n|;&]{0,200}?\s-P|redis-cli\b[^\n|;&]{0,120}?\s-a|ldap\w{3,8}\b[^\n|;&]{0,200}?\s-w)\s{0,3}["']?)(?<bare>[^\s"'$<-][^\s"'$<]{2,256})/g,
    evidence: "any",
    hints: [" -p", " -a ", " -w "],
  },
  // `htpasswd -b file user …`, `rabbitmqctl add_user user …`, `net user name … /add`.
  {
    pattern:
      /(?<before>\b(?:htpasswd\s{1,3}-\w{0,4}b\w{0,4}\s{1,3}(?:-\w{1,4}\s{1,3}){0,4}(?:[^\s-][^\s]{0,255}\s{1,3})?[\w.@-]{1,64}|(?:add_user|change_password)\s{1,3}[\w.@-]{1,64}|net\s{1,3}user\s{1,3}[\w.@-]{1,64}(?=\s{1,3}[^\s]{3,256}\s{1,3}\/))\s{1,3}["']?)(?<bare>[^\s"'$</|;&-][^\s"'$<|;&]{2,255})/gi,
    evidence: "any",
    hints: ["htpasswd", "d_user", "e_password", "net user"],
  },
  // `net use z: \\host\share … /user:ana`.
  {
    pattern:
      /(?<before>\bnet\s{1,3}use\s{1,3}(?:[^\s]{1,255}\s{1,3}){1,3}?)(?<bare>[^\s"'$</\\*][^\s"'$<]{2,255})(?=\s{1,3}\/user:|\s{0,3}$)/gim,
    evidence: "any",
    hints: ["net use "],
  },
  // `smbclient -U ana%…`, `lftp -u ana,…`, `xfreerdp /p:…`, `ssh-keygen -N …`, `openssl enc -k …`.
  {
    pattern:
      /(?<before>\b(?:(?:smbclient|rpcclient|winexe)\b[^\n|;&]{0,200}?\s-U\s{0,3}["']?[^\s%"']{1,64}%|lftp\b[^\n|;&]{0,200}?\s-u\s{1,3}["']?[^\s,"']{1,64},|[wx]freerdp\b[^\n|;&]{0,200}?\s\/p:|ssh-keygen\b[^\n|;&]{0,200}?\s-[NP]\s{1,3}["']?|openssl\s{1,3}enc\b[^\n|;&]{0,200}?\s-k\s{1,3}["']?|ConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?["']))(?<bare>[^\s"'$<-][^\s"'$<]{2,255})/g,
    evidence: "any",
    hints: [
      "smbclient",
      "rpcclient",
      "winexe",
      "lftp",
      "freerdp",
      "h-keygen",
      "ssl enc",
      "-securestring",
    ],
  },
  // Directives of servers and switches, which have a blank before the value.
  {
    pattern:
      /(?<before>^[ \t]{0,16}(?:requirepass|masterauth|bindpw|rootpw|snmp-server\s{1,3}community|(?:username\s{1,3}\S{1,64}\s{1,3}|enable\s{1,3})(?:privilege\s{1,3}\d{1,2}\s{1,3})?(?:password|secret)\s{1,3}\d)\s{1,8}["']?)(?<bare>[^\s"'$<-][^\s"'$<]{2,255})/gim,
    evidence: "any",
    hints: [
      "requirepass",
      "masterauth",
      "bindpw",
      "rootpw",
      "snmp-server",
      "word 0 ",
      "word 5 ",
      "word 7 ",
      "cret 0 ",
      "cret 5 ",
      "cret 8 ",
      "cret 9 ",
    ],
    context: "\\s{0,3}\\S",
  },
  // `?code=…` of OAuth, `static:user:…` of Postfix.
  {
    pattern:
      /(?<before>[?&]code=|\bstatic:[\w.@-]{1,64}:)(?<bare>(?<=code=)(?=[a-z_-]{0,64}\d)[\w.%/-]{20,2048}|(?<!code=)[^\s:"'$<]{4,256})/gi,
    evidence: "any",
    hints: ["?code=", "&code=", "static:"],
  },
  // `echo … | sudo -S`, `echo user:… | chpasswd`.
  {
    pattern:
      /(?<before>\b(?:echo|printf)\s{1,3}(?:-\w{1,3}\s{1,3})?["']?(?:[\w.-]{1,64}:(?=[^\n|]{1,256}\|\s{0,3}(?:sudo\s{1,3})?chpasswd))?)(?<bare>[^\s"'$<|][^\s"'$<|]{2,255})(?=["']?\s{0,3}\|\s{0,3}(?:sudo\s{1,3}(?:-\w{1,3}\s{1,3}){0,3}?(?:-\w{0,4}S|chpasswd|passwd)|chpasswd|passwd|[^\n|]{1,120}--(?:password|pass|passphrase)-(?:stdin|fd)))/g,
    evidence: "any",
    hints: ["echo ", "ntf "],
    context: "[^\\n|]{1,300}\\|",
  },
  // `sqlplus user/…@host`, `jdbc:oracle:thin:user/…@host`.
  {
    pattern:
      /(?<before>(?:\b(?:sqlplus|sqlcl|sqlldr|expdp|impdp|rman)\s(?:[^\n|;&]{0,120}?[\s=])?|oracle:\w{2,5}:)["']?[\w$#]{1,30}\/)(?<bare>[^\s@/"'<>$[{][^\s@/"'<>]{0,255})@/gi,
    evidence: "any",
    hints: ["sqlplus", "sqlcl", "sqlldr", "xpdp", "mpdp", "rman ", "oracle:"],
  },
  // Cookies of sessions. `session_id` is none: tools name their conversations so.
  {
    pattern:
      /(?<before>(?:(?<![\w-])(?:sessionid|sid|csrftoken)|JSESSIONID|PHPSESSID|ASP\.NET_SessionId|ASPSESSIONID[A-Z]{1,10}|connect\.sid|laravel_session|CFTOKEN|wordpress_logged_in_\w{1,64}|session-token)=)(?<bare>(?![a-f0-9]{8}-[a-f0-9]{4}-)[\w.%:~+/-]{16,4096})/g,
    evidence: "any",
    hints: [
      "nid=",
      "aspsessionid",
      "dpress_logged",
      "-token=",
      "sid=",
      "csrftoken=",
      "phpsessid=",
      "laravel_session=",
      "cftoken=",
    ],
  },
  // The answer to a challenge of Digest authentication.
  {
    pattern: /(?<before>\bresponse=\\{0,3}["']?)(?<bare>[a-f0-9]{32,128})(?![\w-])/g,
    evidence: "any",
    hints: ["esponse="],
  },
  // `pin: 1234`, `OTP is 123456`, `cvv=123`.
  {
    pattern:
      /(?<before>(?<![\w-])(?:(?:pin|otp|mfa|2fa|totp|verification|security|one-time)(?:[\s_-]?code)?|card[_-]?pin|cvv2?|cvc2?)["']?(?:\s{0,2}[:=]|\sis:?)\s{0,2}["']?)(?<bare>\d{4,8}|(?<=cv[vc]2?\W[^\n]{0,8})\d{3})(?![\w.:-])/gi,
    evidence: "any",
    hints: ["pin", "otp", "mfa", "2fa", "rification", "ecurity", "e-time", "cvv", "cvc"],
    context: "[\\w\\s-]{0,8}[\"']?(?:\\s{0,2}[:=]|\\sis)[:\\s]{0,3}[\"']?\\d{3}",
  },
  // The words of a wallet.
  {
    pattern:
      /(?<before>(?:mnemonic|(?:seed|recovery|secret)[\s_-]phrase)\\{0,3}["']?\s{0,2}(?:[:=]|is:?)\s{0,3}\\{0,3}["']?)(?<bare>(?:[a-z]{3,8}\s){11,23}[a-z]{3,8})(?![a-z])/gi,
    evidence: "any",
    hints: ["mnemonic", "phrase"],
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
    hints: ["bearer ", "asic "],
  },
  // `Cookie: a=…; b=…`, `Set-Cookie: …`, `curl -b a=…`.
  {
    pattern:
      /(?<before>(?:cookie\\{0,3}["']?\s{0,3}:\s{0,3}\\{0,3}["'`]?|\s(?:-b|--cookie)\s{1,3}["']?)[\w.-]{1,64}=)(?<bare>[^\s"'`[\\;<$][^"'`\r\n\\]{5,4095})/gi,
    evidence: "any",
    hints: ["cookie", " -b "],
    context: "[^=\\n]{0,80}=",
  },
  // `postgres://user:…@host`, `redis://:…@host`, `https://TOKEN@host`.
  {
    pattern: /(?<before>:\/\/)(?<bare>[\w~.+%-]{16,512})(?::x-oauth-basic)?@/g,
    evidence: "token",
    hints: ["://"],
    context: "[^\\s/]{0,800}@",
  },
  {
    pattern: /(?<before>:\/\/[^\s:/@?#"'<>]{0,256}:)(?<bare>[^\s@/"'<>$[{][^\s@/"'<>]{0,511})@/g,
    evidence: "any",
    hints: ["://"],
    context: "[^\\s/]{0,800}@",
  },
  // Addresses that let anyone post.
  {
    pattern:
      /(?<before>(?:hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/|hooks\.zapier\.com\/hooks\/catch\/|\.webhook\.office\.com\/webhookb2\/))(?<bare>[\w/@.?=&%-]{16,})/g,
    evidence: "any",
    hints: ["hook"],
    context: "[\\w.]{0,40}/",
  },
  // `.netrc` and `.pgpass`.
  {
    pattern:
      /(?<before>\blogin\s{1,3}[^\s]{1,128}\s{1,8}password\s{1,3})(?<bare>[^\s"'$<[]{1,256})/g,
    evidence: "any",
    hints: ["ogin"],
    context: "\\s",
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
    hints: [
      "$2a$",
      "$2b$",
      "$2x$",
      "$2y$",
      "$1$",
      "$5$",
      "$6$",
      "$7$",
      "$y$",
      "$apr1$",
      "$argon2",
      "$scrypt$",
      "$pbkdf2-sha",
    ],
  },
];

/** A hint's text, and a pattern of it with its context; a blank in it stands for any. */
export const HINTS: readonly Hint[] = NAMED_RULES.flatMap(({ hints, context = "" }) =>
  hints.map((text) => ({
    text,
    pattern: text.replace(/[$*.?]/g, "\\$&").replaceAll(" ", "\\s") + context,
  })),
);

export const hintedLines: (text: string) => readonly number[] = lineFinder(HINTS);

/** What stands for a secret, or is code that yields one. */
export const NO_SECRET: RegExp =
  /^(?:string|number|boolean|bool|str|int|bytes|buffer|object|any|null|none|nil|undefined|unknown|true|false|yes|no|on|off|optional|required|field|text|hidden|input|password|passwd|pwd|pass|secret|token|key|credentials|value|basic|bearer|empty|missing|invalid|expired|wrong|default|placeholder|example|sample|dummy|test|testing|changeme|change[_-]me|todo|tbd|foo|bar|n\/a|redacted|masked|hidden|removed|\*+|x+|\.+|-+|_+|0+|#+)[.?!:]?$|^(?:process|os|env|import|this|self|ctx|context|config|cfg|settings|options|opts|args|argv|params|props|req|request|res|response|data|user|state|secrets|vars|var|local|module|credentials|session|event|input|body|payload|std|str)\b\.|^\$|^[<{%]|^[\w-]*\$?[<{]|your[_-]|[_-]here$|^(?:my|some|the|new|old|any|your)[_-]?(?:password|secret|token|key)|\.\.\.|…|xxxx|\*\*\*|^@|^\/\/|^!|^\|/i;
