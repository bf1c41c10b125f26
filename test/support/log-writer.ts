/** A process that commits long and short transactions to a plain SQLite file until it is killed. */

import { DatabaseSync } from "node:sqlite";
import { receiveTask, say } from "./child-task.ts";

const { path } = await receiveTask<{ readonly path: string }>();
const db = new DatabaseSync(path, { timeout: 10_000 });
// Synced commits take long: most kills fall between the write of the commit and its acknowledgement.
db.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = FULL; PRAGMA cache_size = 20");
const insert = db.prepare("INSERT INTO t (text) VALUES (?)");
say({ up: true });
for (let n = 0; ; n++) {
  try {
    db.exec("BEGIN IMMEDIATE");
    const rows = n % 3 === 0 ? 120 : 1 + (n % 3);
    for (let i = 0; i < rows; i++) insert.run(`${Math.random()}`.repeat(20));
    db.exec(n % 10 === 9 ? "ROLLBACK" : "COMMIT");
    if (n % 200 === 199) db.exec("PRAGMA wal_checkpoint(RESTART)");
  } catch {
    // Busy: another process holds the lock; retries.
    if (db.isTransaction) db.exec("ROLLBACK");
  }
}
