/** Fixture of the ingest tests: a minimal format, and a machine in a folder. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createFolder } from "../../test/support/folder.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { ResumedLines, readRecords } from "../ingest/jsonl.ts";
import { PI } from "../ingest/pi/pi.ts";
import { ProblemLog } from "../ingest/problems.ts";
import type { ImportedEntry, ImportedSession, TranscriptSource } from "../ingest/source.ts";
import type { JsonObject } from "../model/json.ts";
import { type IngestInput, type IngestReport, ingest } from "./ingest.ts";
import type { FileOutcome } from "./outcome.ts";

/** `{"note":"id","text":"…"}` per line; without a tree, resumable anywhere. */
export const NOTES: TranscriptSource = {
  name: "notes",
  places: ({ home, variables }) => [
    {
      root: variables["SESSIONS_DIR"] ?? join(home, "notes"),
      matches: (path) => path.includes(".jsonl"),
    },
  ],
  recognise: (head) => Buffer.from(head).toString("utf8").startsWith('{"note"'),
  read({ lines, resume }) {
    const problems = new ProblemLog();
    let state: JsonObject = resume ?? { count: 0, session: null, cwd: null };
    const resumed = new ResumedLines(() => state);
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const records = readRecords(resumed.read(lines), problems);
      const first = resume === undefined ? await records.next() : undefined;
      if (first?.done) return;
      if (first !== undefined) {
        const { session = null, cwd = null } = first.value.record as JsonObject;
        state = { ...state, session, cwd };
      }
      yield {
        source: "notes",
        agent: "notes",
        id: state["session"] as string | null,
        title: null,
        cwd: state["cwd"] as string | null,
        gitBranch: null,
        startedAt: 1_000,
        parentSession: null,
        metadata: {},
        problems,
        entries: entries(),
      };
      async function* entries(): AsyncGenerator<ImportedEntry> {
        if (first !== undefined) yield toEntry(first.value.record as JsonObject);
        for await (const { record } of records) yield toEntry(record as JsonObject);
      }
      function toEntry(record: JsonObject): ImportedEntry {
        const count = Number(state["count"]) + 1;
        state = { ...state, count };
        return {
          sourceId: String(record["note"]),
          kind: "message",
          actor: "ana",
          data: null,
          role: (record["role"] ?? "user") as "user",
          usage: null,
          model: null,
          metadata: {},
          blocks: [
            { type: "text", text: String(record["text"]) },
            ...(record["tool"] === undefined
              ? []
              : [
                  { type: "tool_use" as const, id: "t", name: String(record["tool"]), input: "{}" },
                ]),
          ],
          createdAt: 1_000 + count,
        };
      }
    }
    return { sessions: sessions(), problems, state: () => resumed.state() };
  },
};

/** pi, with files in a place. */
const PLACED_PI: TranscriptSource = {
  ...PI,
  places: ({ home }) => [{ root: join(home, "pi"), matches: (path) => path.endsWith(".jsonl") }],
};

export interface Machine {
  readonly home: string;
  /** Writes a file below the home folder, and gives its path. */
  put(path: string, content: string | Uint8Array): string;
  run(tenant: TenantEngine, over?: Partial<IngestInput>): Promise<IngestReport & Outcomes>;
}

interface Outcomes {
  /** Outcomes of changed files, by path. */
  readonly outcomes: readonly FileOutcome[];
}

export function createMachine(workstation = "w1"): Machine {
  const home = createFolder();
  return {
    home,
    put(path, content) {
      const full = join(home, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    async run(tenant, over = {}) {
      const outcomes: FileOutcome[] = [];
      const report = await ingest(tenant, {
        environment: { home, variables: { WORKSTATION_ID: workstation }, platform: "linux" },
        sources: [NOTES, PLACED_PI],
        onOutcome: (outcome) => outcomes.push(outcome),
        ...over,
      });
      outcomes.sort((a, b) => (a.path < b.path ? -1 : 1));
      return { ...report, outcomes };
    },
  };
}

/** The lines of a file in the test's own format. */
export function notes(...all: readonly (string | JsonObject)[]): string {
  return all
    .map((each, i) => {
      const fields = typeof each === "string" ? { text: each } : each;
      const first = i === 0 ? { session: "s1", cwd: "/srv/shop" } : {};
      return `${JSON.stringify({ note: `n${String(fields["text"])}`, ...first, ...fields })}\n`;
    })
    .join("");
}
