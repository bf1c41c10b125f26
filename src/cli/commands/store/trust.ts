import { homedir } from "node:os";
import { hidePasswords } from "../../../api/address.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { readRules, ruleLines, type WireRules } from "../../ingest/read-rules.ts";
import { counted, formatBytes } from "../../print.ts";
import { refuseServer, withOwnTenant } from "../../store.ts";
import { clip, wrapLine } from "../../text.ts";
import {
  keptFiles,
  openServers,
  readContents,
  receivers,
  type StoreContents,
  setUpAgents,
} from "../../trust/look-around.ts";

export const trust: Command = defineCommand({
  name: "trust",
  summary: "Show what is kept on this machine, who can read it, and what leaves it.",
  details:
    "The table of docs/trust.md, of this machine: files with their modes and sizes, sessions by agent, tokens, shares and running servers of this user, agents that were set up, and where content is sent. It only reads, and connects to nothing but the store.",
  examples: ["trust"],
  run: async (context) => {
    refuseServer(context, "trust", "run it where the store is");
    const { contents, rules } = await contentsOf(context);
    const { agents, unreadable } = await setUpAgents();
    const found = {
      store: hidePasswords(context.address),
      contents,
      rules,
      files: keptFiles(context.address),
      servers: openServers(),
      agents,
      unreadable,
      receivers: await receivers(context.address),
    };
    const { terminal, json } = context;
    if (json) await terminal.printJson(found);
    else {
      const rows = [
        ...storeRows(found),
        ...ruleRows(found),
        ...accessRows(found),
        ...outwardRows(found),
      ];
      for (const [name, text] of rows) {
        const columns = Math.min(terminal.columns, MAX_COLUMNS);
        for (const line of wrapLine(`${name.padEnd(NAME_COLUMNS)}${short(text)}`, columns)) {
          await terminal.print(clip(line, columns));
        }
      }
    }
    return EXIT.ok;
  },
});

/** Of a file or a pipe, too. */
const MAX_COLUMNS = 100;
const NAME_COLUMNS = 11;
/** Of the lines that `doctor` prints as they are. */
const RULE_NAME_COLUMNS = 10;

type Row = readonly [name: string, text: string];

interface Found {
  readonly store: string;
  readonly contents: StoreContents | null;
  readonly rules: WireRules | null;
  readonly files: ReturnType<typeof keptFiles>;
  readonly servers: ReturnType<typeof openServers>;
  readonly agents: Awaited<ReturnType<typeof setUpAgents>>["agents"];
  readonly unreadable: readonly string[];
  readonly receivers: Awaited<ReturnType<typeof receivers>>;
}

/** Null: there is no store yet. */
async function contentsOf(context: Context): Promise<Pick<Found, "contents" | "rules">> {
  try {
    return await withOwnTenant(context, "read", async (tenant) => {
      return { contents: await readContents(tenant), rules: await readRules(tenant) };
    });
  } catch (error) {
    if (BackscrollError.is(error, "store_not_found")) return { contents: null, rules: null };
    throw error;
  }
}

/** What is left out of the store, what is deleted by age, and what the machine's policy forbids. */
function ruleRows({ rules }: Found): Row[] {
  if (rules === null) return [];
  return ruleLines(rules).map((line) => [
    line.slice(0, RULE_NAME_COLUMNS).trim(),
    line.slice(RULE_NAME_COLUMNS),
  ]);
}

function storeRows({ store, contents, files }: Found): Row[] {
  const rows: Row[] = [["Store", contents === null ? `${store} (not there yet)` : store]];
  if (contents !== null) {
    const { sessions, messages, memories, facts, originals, agents } = contents;
    const notes = [counted(memories, "memory"), counted(facts, "fact")];
    rows.push(["Holds", `${counted(sessions, "session")} with ${counted(messages, "message")}`]);
    rows.push(["", [counted(originals, "kept transcript"), ...notes].join(", ")]);
    const byAgent = Object.entries(agents).sort(([, a], [, b]) => b - a);
    for (const [agent, count] of byAgent)
      rows.push(["", `${counted(count, "session")} of ${agent}`]);
  }
  files.forEach(({ path, bytes, mode, others }, i) => {
    const size = formatBytes(bytes).padStart(10);
    const open = others ? "  others may read it" : "";
    rows.push([i === 0 ? "Files" : "", `${mode ?? ""} ${size}  ${path}${open}`]);
  });
  return rows;
}

function accessRows({ contents, servers, agents, unreadable }: Found): Row[] {
  const { share = 0, ...scopes } = contents?.tokens ?? {};
  const tokens = Object.entries(scopes).map(([scope, count]) => `${count} ${scope}`);
  const urls = servers.map(({ url, reachable }) =>
    reachable ? `${url} (other machines, with a token)` : `${url} (this machine)`,
  );
  return [
    ["Tokens", tokens.length === 0 ? "none" : tokens.join(", ")],
    ["Shares", share === 0 ? "none" : counted(share, "open link")],
    ["Servers", urls.length === 0 ? "none runs" : urls.join(", ")],
    ...listed(
      "Agents",
      agents.map(({ agent, what, file }) => `${agent}, ${WHAT[what]}: ${file}`),
      "none is set up",
    ),
    ...listed("Unreadable", unreadable),
  ];
}

const WHAT = { server: "MCP", hooks: "hooks" } as const;

function outwardRows({ receivers: all }: Found): Row[] {
  const texts = all.map(({ what, address, leaves }) => {
    return `${what}: ${address}${leaves ? "" : " (this machine)"}`;
  });
  const leaving = all.filter(({ leaves }) => leaves);
  return [
    ...listed("Given to", texts, "no one"),
    [
      "Leaves",
      leaving.length === 0
        ? "nothing leaves this machine"
        : leaving.map(({ what }) => what).join(", "),
    ],
  ];
}

function listed(name: string, texts: readonly string[], none?: string): Row[] {
  const all = texts.length > 0 || none === undefined ? texts : [none];
  return all.map((text, i) => [i === 0 ? name : "", text] as const);
}

function short(text: string): string {
  return text.replaceAll(`${homedir()}/`, "~/");
}
