/** The same vectors in sqlite-vec: exact over floats, and by bits with floats for re-ranking. */

import { existsSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { DatabaseSync } from "node:sqlite";
import { RESCORED } from "../src/search/vectors/quantize.ts";
import { type Figures, peakRssMb, Timings } from "./measure.ts";
import { DIMENSIONS, VectorCorpus } from "./vector-corpus.ts";

const NEAREST = 20;

export interface SqliteVecTask {
  readonly path: string;
  /** The folder that the package `sqlite-vec` is installed in. */
  readonly folder: string;
  readonly vectors: number;
  readonly count: number;
}

export function fillSqliteVec({ path, folder, vectors }: SqliteVecTask): Figures {
  rmSync(path, { force: true });
  const db = openWithExtension(path, folder);
  db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
  db.exec(
    `CREATE VIRTUAL TABLE vectors USING vec0 (exact float[${DIMENSIONS}] distance_metric=cosine, code bit[${DIMENSIONS}])`,
  );
  const insert = db.prepare(
    "INSERT INTO vectors (exact, code) VALUES (?1, vec_quantize_binary(?1))",
  );
  const corpus = new VectorCorpus();
  const start = performance.now();
  db.exec("BEGIN");
  for (let i = 0; i < vectors; i++) insert.run(new Uint8Array(corpus.vector(i).buffer));
  db.exec("COMMIT");
  const seconds = (performance.now() - start) / 1_000;
  db.close();
  return { vectorsPerSecond: vectors / seconds, bytesPerVector: statSync(path).size / vectors };
}

export function querySqliteVec({ path, folder, count }: SqliteVecTask): Figures {
  const db = openWithExtension(path, folder);
  const exact = db.prepare(
    `SELECT rowid FROM vectors WHERE exact MATCH ? AND k = ${NEAREST} ORDER BY distance`,
  );
  const byBits = db.prepare(
    `WITH near AS (SELECT rowid, exact FROM vectors WHERE code MATCH vec_quantize_binary(?1) AND k = ${RESCORED})
     SELECT rowid FROM near ORDER BY vec_distance_cosine(exact, ?1) LIMIT ${NEAREST}`,
  );
  const corpus = new VectorCorpus();
  const [slow, quick] = [new Timings(), new Timings()];
  let found = 0;
  for (let i = 0; i < count; i++) {
    const query = new Uint8Array(corpus.query(i).buffer);
    const rows = new Set<unknown>();
    slow.timeSync(() => {
      for (const { rowid } of exact.all(query)) rows.add(rowid);
    });
    quick.timeSync(() => {
      for (const { rowid } of byBits.all(query)) if (rows.has(rowid)) found++;
    });
  }
  db.close();
  return {
    p50Ms: slow.percentile(50),
    p99Ms: slow.percentile(99),
    bitsP50Ms: quick.percentile(50),
    bitsP99Ms: quick.percentile(99),
    bitsRecall: found / (count * NEAREST),
    rssMb: peakRssMb(),
  };
}

function openWithExtension(path: string, folder: string): DatabaseSync {
  const modules = `${folder}/node_modules/`;
  if (!existsSync(`${modules}sqlite-vec`)) throw new Error(`${modules} has no sqlite-vec`);
  const { getLoadablePath } = createRequire(modules)("sqlite-vec") as {
    getLoadablePath(): string;
  };
  const db = new DatabaseSync(path, { allowExtension: true });
  db.loadExtension(getLoadablePath());
  return db;
}
