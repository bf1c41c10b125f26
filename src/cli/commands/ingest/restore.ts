/** `resume --restore`: puts transcripts back that their agents have deleted. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  findTranscript,
  type RestoredFile,
  type RestoreOptions,
  restoreSession,
} from "../../../archive/restore.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import type { Session } from "../../../model/session.ts";
import type { Context } from "../../context.ts";
import { counted, formatBytes } from "../../print.ts";
import { Progress } from "../../terminal.ts";

export interface Restoring {
  readonly cwd?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

function optionsOf({ cwd, dryRun }: Restoring): RestoreOptions {
  return {
    environment: thisMachine(),
    ...(cwd === undefined ? {} : { cwd: resolve(cwd) }),
    ...(dryRun === undefined ? {} : { dryRun }),
  };
}

/** The session's transcript, if it is kept and not where its agent looks for it. */
export async function goneTranscript(
  tenant: TenantApi,
  session: Session,
  restoring: Restoring,
): Promise<string | undefined> {
  const path = await findTranscript(tenant, session.id, optionsOf(restoring));
  return path === undefined || existsSync(path) ? undefined : path;
}

/** What became of the files of some sessions. */
export interface Restored {
  readonly sessions: number;
  /** Sessions of which no file is kept. */
  readonly without: number;
  readonly files: readonly RestoredFile[];
}

export async function restoreAll(
  tenant: TenantApi,
  sessions: readonly Session[],
  restoring: Restoring,
): Promise<Restored> {
  const options = optionsOf(restoring);
  const files = new Map<string, RestoredFile>();
  const progress = new Progress();
  let [done, without] = [0, 0];
  progress.show(() => `Restored ${done} of ${counted(sessions.length, "session")}`);
  try {
    for (const session of sessions) {
      const restored = await restoreSession(tenant, session, options);
      if (restored.length === 0) without++;
      // A sub-agent's file is reached from its parent, too: what was written first counts.
      for (const file of restored) if (!files.has(file.path)) files.set(file.path, file);
      done++;
    }
  } finally {
    progress.end();
  }
  return { sessions: sessions.length, without, files: [...files.values()] };
}

const SHOWN = 10;

export function tellRestored(
  { terminal }: Context,
  { sessions, without, files }: Restored,
  dryRun = false,
): void {
  const of = (outcome: RestoredFile["outcome"]) => files.filter((file) => file.outcome === outcome);
  const written = of(dryRun ? "would_write" : "written");
  const size = formatBytes(written.reduce((sum, file) => sum + file.size, 0));
  const what = `${counted(written.length, "file")} (${size}) of ${counted(sessions, "session")}`;
  terminal.note(
    `${dryRun ? "would restore" : "restored"} ${what}; ${of("there").length} were there`,
  );
  for (const { path } of written.slice(0, SHOWN)) terminal.note(`  ${path}`);
  if (written.length > SHOWN) terminal.note(`  … and ${written.length - SHOWN} more`);
  for (const { path } of of("differs")) {
    terminal.note(`left alone: ${path} has other content than what was kept`);
  }
  for (const { path } of of("no_place")) {
    terminal.note(`not restored: ${path} is not where its agent keeps the files of a session`);
  }
  for (const { path, problem } of of("failed")) {
    terminal.note(`not restored: ${path}: ${problem}`);
  }
  if (without === 0) return;
  terminal.note(
    `${counted(without, "session")} without kept files: written here, or read from a database; resume ID --in AGENT --native makes a copy`,
  );
}
