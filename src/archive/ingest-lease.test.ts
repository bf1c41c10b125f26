import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { createFolder } from "../../test/support/folder.ts";
import { IngestLease, LEASE_MS } from "./ingest-lease.ts";
import { workInTurn } from "./work-in-turn.ts";

let file: string;
beforeEach(() => {
  file = join(createFolder(), "x.lease");
});

function lease(token: string, pid = process.pid): IngestLease {
  return new IngestLease({ file, pid, machine: "here", token });
}

describe("a lease", () => {
  test("is held by one, and free once it is given back", () => {
    const [first, second] = [lease("a"), lease("b")];
    expect([first.take(), second.take()]).toEqual([true, false]);
    expect([first.renew(), second.renew()]).toEqual([true, false]);
    second.release();
    expect(existsSync(file)).toBe(true);
    first.release();
    expect([existsSync(file), second.take()]).toEqual([false, true]);
  });

  test("is taken over from a process that died, and the late owner finds out", () => {
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    const dead = lease("a", pid);
    expect([dead.take(), lease("b").take()]).toEqual([true, true]);
    expect(dead.renew()).toBe(false);
    dead.release();
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ token: "b" });
    expect(readdirSync(dirname(file))).toEqual(["x.lease"]);
  });

  test("is taken over from who has not touched it for long, wherever that was", () => {
    writeFileSync(file, JSON.stringify({ pid: 1, machine: "elsewhere", token: "x" }));
    expect(lease("a").take()).toBe(false);
    const old = new Date(Date.now() - LEASE_MS - 1_000);
    utimesSync(file, old, old);
    expect(lease("a").take()).toBe(true);
  });

  test("is not taken from who is just writing it", () => {
    writeFileSync(file, "");
    expect(lease("a").take()).toBe(false);
  });
});

describe("working in turn", () => {
  test("one works, and the next steps in when it ends", async () => {
    const events: string[] = [];
    const worker = (name: string) => {
      const end = new AbortController();
      const work = (signal: AbortSignal) => {
        events.push(`${name} begins`);
        return new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => {
            events.push(`${name} ends`);
            resolve();
          });
        });
      };
      const done = workInTurn({ lease: lease(name), signal: end.signal, work, lookMs: 5 });
      return { end, done };
    };
    const [first, second] = [worker("a"), worker("b")];
    await expect.poll(() => events).toEqual(["a begins"]);
    first.end.abort();
    await first.done;
    await expect.poll(() => events).toEqual(["a begins", "a ends", "b begins"]);
    second.end.abort();
    await second.done;
    expect(existsSync(file)).toBe(false);
  });

  test("who loses the lease stops, and waits for it again", async () => {
    const end = new AbortController();
    let turns = 0;
    const work = (signal: AbortSignal) => {
      turns++;
      return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    };
    const done = workInTurn({ lease: lease("a"), signal: end.signal, work, lookMs: 5 });
    await expect.poll(() => turns).toBe(1);
    writeFileSync(file, JSON.stringify({ pid: process.pid, machine: "here", token: "b" }));
    await expect.poll(() => lease("b").renew()).toBe(true);
    lease("b").release();
    await expect.poll(() => turns).toBe(2);
    end.abort();
    await done;
  });

  test("a failure of the work ends it, and gives the lease back", async () => {
    const work = () => Promise.reject(new Error("the store is gone"));
    const { signal } = new AbortController();
    await expect(workInTurn({ lease: lease("a"), signal, work })).rejects.toThrow("gone");
    expect(existsSync(file)).toBe(false);
  });
});
