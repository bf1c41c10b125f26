/**
 * A storage thread: the writer, the reader or the indexer.
 *
 * The writer drains its port before it commits, so that queued writes share a commit (group
 * commit).
 */

import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from "node:worker_threads";
import { pause } from "../../../async/pause.ts";
import type { MaintenanceTask } from "../../../search/port.ts";
import type { IndexRequest } from "../../../search/request.ts";
import { loadIndexCode } from "../../index/index-code.ts";
import { Maintainer } from "../index/maintainer.ts";
import { Searcher } from "../index/searcher.ts";
import { SegmentFile } from "../index/segment-file.ts";
import { callRead, type ReadName, type WriteName } from "../operations/index.ts";
import { isBusy } from "../sqlite-errors.ts";
import { connect, readEpoch } from "../sqlite-schema.ts";
import { packAnswer } from "./answer-parcel.ts";
import { type AppendParcel, unpackAppend } from "./append-parcel.ts";
import { closeWriter } from "./in-thread.ts";
import { LogGrowth } from "./log-growth.ts";
import {
  CHECKPOINT,
  CLOSE,
  type Reply,
  type Request,
  type Requests,
  SEARCH,
  STOP,
  type ThreadData,
  toFailure,
} from "./thread-messages.ts";
import { WriteQueue } from "./write-queue.ts";

const data = workerData as ThreadData;
const port = parentPort as MessagePort;

/** A shared flag, 1 once the caller has aborted, and the number of threads that search. */
type SearchArguments = [string, IndexRequest, Int32Array | undefined, number];

/** Reads are random, and the system caches the file too: a larger cache saved no time. */
const READER_CACHE_KIB = 4_096;

if (data.role === "writer") serveWrites();
else if (data.role === "reader") serveReads();
else serveMaintenance();

function serveWrites(): void {
  const db = connect(data.path, {
    durability: data.durability,
    readOnly: data.readOnly,
  });
  const queue = new WriteQueue(db, data.busyTimeoutMs);
  const growth = new LogGrowth(db);
  let replies: Reply[] = [];

  const flush = () => {
    if (replies.length === 0) return;
    port.postMessage({ replies, walLarge: growth.takeLarge() });
    replies = [];
  };
  const attempt = (id: number, work: () => unknown) => {
    try {
      replies.push({ id, value: work() });
    } catch (error) {
      replies.push({ id, failure: toFailure(error) });
    }
  };
  /** Each queued write is executed, or times out. */
  const closeWhenIdle = (id: number) => {
    if (!queue.idle) {
      setTimeout(() => closeWhenIdle(id), 2);
      return;
    }
    attempt(id, () => closeWriter(db, data.readOnly));
    queueMicrotask(flush);
  };
  const take = (request: Request) => {
    if (request.name === CLOSE) {
      queue.drain();
      closeWhenIdle(request.id);
      return;
    }
    if (request.name === CHECKPOINT) {
      queue.drain();
      attempt(request.id, () => db.checkpoint("PASSIVE"));
      return;
    }
    const isAppend = request.name === "append";
    queue.add({
      name: request.name as WriteName,
      args: isAppend ? unpackAppend(request.args[0] as AppendParcel) : request.args,
      settle: (outcome) => {
        replies.push(
          "error" in outcome
            ? { id: request.id, failure: toFailure(outcome.error) }
            : { id: request.id, value: outcome.value },
        );
        // A retry after a busy lock settles outside a message handler: flush here.
        if (!taking) queueMicrotask(flush);
      },
    });
  };

  let taking = false;
  port.on("message", (first: Requests) => {
    taking = true;
    first.requests.forEach(take);
    // Group commit: writes that arrived meanwhile join the transaction.
    for (let more = nextNow(); more !== undefined; more = nextNow()) more.requests.forEach(take);
    queue.drain();
    flush();
    taking = false;
  });
}

function nextNow(): Requests | undefined {
  return receiveMessageOnPort(port)?.message as Requests | undefined;
}

function serveReads(): void {
  const { path, readOnly } = data;
  const db = connect(path, { readOnly, cacheKib: READER_CACHE_KIB });
  const segments = new SegmentFile(data.path, data.readOnly, () => readEpoch(db));
  const searcher = new Searcher(db, segments, data.indexing);
  answerEach(readWithRetry);

  async function readWithRetry(request: Request): Promise<unknown> {
    const code = request.name === SEARCH ? await loadIndexCode(data.indexing.module) : undefined;
    const deadline = Date.now() + data.busyTimeoutMs;
    for (;;) {
      try {
        if (request.name === CHECKPOINT) return db.checkpoint("PASSIVE");
        if (request.name === CLOSE) return close();
        if (code === undefined) return callRead(db, request.name as ReadName, request.args);
        const [tenant, wanted, abandoned, sharing] = request.args as SearchArguments;
        const isAbandoned = abandoned && (() => Atomics.load(abandoned, 0) !== 0);
        return packAnswer(searcher.search(code, tenant, wanted, { isAbandoned, sharing }));
      } catch (error) {
        if (!isBusy(error) || Date.now() > deadline) throw error;
        await pause(2);
      }
    }
  }

  function close(): void {
    searcher.close();
    db.close();
  }
}

function serveMaintenance(): void {
  lowerPriority();
  const maintainer = new Maintainer(data);
  answerEach(async (request) => {
    if (request.name === STOP) return maintainer.stop();
    if (request.name === CLOSE) return maintainer.close();
    const [tenant, task, unreadable] = request.args as [string, MaintenanceTask, number[]];
    const code = await loadIndexCode(data.indexing.module);
    return maintainer.maintain(code, tenant, task, unreadable);
  });
}

function answerEach(answer: (request: Request) => Promise<unknown>): void {
  let ready: Reply[] = [];
  /** Replies of one turn are sent in one message. */
  const reply = (one: Reply) => {
    ready.push(one);
    if (ready.length > 1) return;
    queueMicrotask(() => {
      const replies = ready;
      ready = [];
      port.postMessage({ replies, walLarge: false });
    });
  };
  port.on("message", ({ requests }: Requests) => {
    for (const request of requests) {
      const { id } = request;
      void answer(request).then(
        (value) => reply({ id, value }),
        (error: unknown) => reply({ id, failure: toFailure(error) }),
      );
    }
  });
}

/**
 * Lowers the scheduling priority (nice value) of the index thread.
 *
 * Indexing can wait: searches also read the unindexed tail. With as many threads as cores, a search
 * or an append would otherwise wait for it. Under full load the scheduler still gives it a share.
 */

/** A nice value of 5 has about a third of the CPU weight of nice 0. */
const NICE = 5;

/** Lowers the priority of the calling thread. Only Linux has one per thread; elsewhere a no-op. */
function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    const thread = readlinkSync("/proc/thread-self").split("/").at(-1);
    setPriority(Number(thread), NICE);
  } catch {
    // Not permitted: keep the normal priority.
  }
}
