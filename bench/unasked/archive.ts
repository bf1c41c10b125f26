/** A store of real transcripts, and what was asked in them. */

import { existsSync, globSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { ingest } from "../../src/archive/index.ts";
import { type Engine, open } from "../../src/index.ts";
import type { Session } from "../../src/model/session.ts";
import { type Act, readActs } from "../../src/recap/read-acts.ts";
import { Asker } from "../../src/unasked/asker.ts";
import type { Verdict } from "../../src/unasked/moment.ts";
import { askPrompt } from "../../src/unasked/prompt/prompt.ts";
import { patientOptions } from "../recall-engine.ts";

/** The machine may be busy: the decision is measured, not the time. */
export const PATIENT = { deadlineMs: 20_000 };

export interface Place {
  readonly cwd: string;
  readonly at: number;
  readonly branch?: string;
  readonly session?: string;
}

export class Archive {
  readonly engine: Engine;
  /** By the agent's own id. */
  readonly sessions: ReadonlyMap<string, Session>;
  readonly #ids: ReadonlyMap<string, string>;

  private constructor(engine: Engine, sessions: readonly Session[]) {
    this.engine = engine;
    this.sessions = new Map(sessions.map((session) => [agentsId(session), session]));
    this.#ids = new Map(sessions.map((session) => [session.id, agentsId(session)]));
  }

  /** Ingests the folder, unless the store exists. */
  static async open(address: string, folder: string): Promise<Archive> {
    if (!existsSync(address)) {
      await using engine = await open(address, { durability: "process" });
      const environment = {
        home: folder,
        variables: { WORKSTATION_ID: "bench" },
        platform: "linux",
      };
      await ingest(engine, { environment, paths: [folder], originals: false } as never);
      await engine.maintainIndex("flush");
    }
    const engine = await open(address, patientOptions(undefined));
    const { sessions } = await engine.listSessions({ limit: 500, machineMade: true });
    return new Archive(engine, sessions);
  }

  /** The agent's own id of a session. */
  idOf(sessionId: string): string {
    return this.#ids.get(sessionId) ?? "";
  }

  async acts(session: Session): Promise<readonly Act[]> {
    return (await readActs(this.engine, session.id)).acts;
  }

  askPrompt(text: string, place: Place): Promise<Verdict> {
    const moment = { moment: "prompt", text, ...place } as const;
    return askPrompt(new Asker(this.engine, moment, PATIENT), text);
  }
}

/** Asked in the session, with its folder and branch. */
export function placeOf({ id, origin }: Session, at: number): Place {
  const { projectPath: cwd = "/", gitBranch: branch } = origin;
  return { cwd, at, session: id, ...(branch === undefined ? {} : { branch }) };
}

function agentsId({ origin, id }: Session): string {
  return origin.key?.split(":").at(-1) ?? id;
}

/** Copies of transcripts without the messages that have `git commit`, and their results. */
export async function leaveOutCommits(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const path of globSync(join(from, "*"))) {
    const text = await readFile(path, "utf8");
    const kept = path.endsWith(".jsonl") ? withoutCommits(text.split("\n")).join("\n") : text;
    await writeFile(join(to, basename(path)), kept);
  }
}

interface Line {
  uuid?: string;
  parentUuid?: string | null;
  message?: { content?: unknown };
}

function withoutCommits(lines: readonly string[]): readonly string[] {
  const parents = new Map<string, string | null>();
  const calls = new Set<string>();
  return lines.flatMap((text) => {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      return [text];
    }
    if (commits(line.message?.content, calls)) {
      if (line.uuid !== undefined) parents.set(line.uuid, line.parentUuid ?? null);
      return [];
    }
    let parent = line.parentUuid;
    while (typeof parent === "string" && parents.has(parent)) parent = parents.get(parent);
    return [parent === line.parentUuid ? text : JSON.stringify({ ...line, parentUuid: parent })];
  });
}

interface Part {
  readonly type?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly text?: string;
  readonly input?: unknown;
}

function commits(content: unknown, calls: Set<string>): boolean {
  if (typeof content === "string") return content.includes("git commit");
  if (!Array.isArray(content)) return false;
  return (content as readonly Part[]).some(({ type, id = "", tool_use_id = "", text, input }) => {
    if (type === "tool_result") return calls.has(tool_use_id);
    const has = (type === "text" ? text : JSON.stringify(input))?.includes("git commit") === true;
    if (has && type === "tool_use") calls.add(id);
    return has;
  });
}
