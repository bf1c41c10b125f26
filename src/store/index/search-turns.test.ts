import { expect, test } from "vitest";
import { SearchTurns, type TurnOptions } from "./search-turns.ts";

/** Searches that end on request; `begun` lists the started ones, in order. */
function setup() {
  const clock = { now: 0 };
  const turns = new SearchTurns(() => clock.now);
  const begun: string[] = [];
  const lanes = new Map<string, number>();
  const ends = new Map<string, () => void>();
  const run = (tenant: string, name: string, options: TurnOptions = {}) =>
    turns.run(
      tenant,
      (lane) => {
        begun.push(name);
        lanes.set(name, lane);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      },
      options,
    );
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { turns, run, begun, lanes, clock, end };
}

test("round robin: a burst of one tenant does not delay another tenant's search", async () => {
  const { run, begun, end } = setup();
  const all = ["a1", "a2", "a3", "a4"].map((name) => run("a", name));
  const other = run("b", "b1");
  expect(begun).toEqual(["a1", "a2"]);
  await end("a1");
  await end("a2");
  expect(begun).toEqual(["a1", "a2", "b1", "a3"]);
  await end("b1");
  await end("a3");
  await end("a4");
  expect(await Promise.all([...all, other])).toEqual(["a1", "a2", "a3", "a4", "b1"]);
});

test("a search that fails to start frees its slot", async () => {
  const turns = new SearchTurns();
  const fail = () => {
    throw new Error("no thread");
  };
  for (let i = 0; i < 3; i++) {
    await expect(turns.run("a", fail)).rejects.toThrow("no thread");
  }
  expect(await turns.run("b", async () => "found")).toBe("found");
});

test("an aborted queued search never starts, and does not block others", async () => {
  const { run, begun, end } = setup();
  const gone = new AbortController();
  const first = [run("a", "a1"), run("a", "a2")];
  const given = run("a", "a3", { signal: gone.signal });
  const last = run("a", "a4");
  gone.abort(new Error("gone"));
  await expect(given).rejects.toThrow("gone");
  await expect(run("a", "a5", { signal: gone.signal })).rejects.toThrow("gone");
  await end("a1");
  await end("a2");
  await end("a4");
  await Promise.all([...first, last]);
  expect(begun).toEqual(["a1", "a2", "a4"]);
});

test("an aborted running search is rejected at once, and keeps its slot until it ends", async () => {
  const { run, begun, end } = setup();
  const gone = new AbortController();
  const given = run("a", "a1", { signal: gone.signal });
  const second = run("a", "a2");
  const third = run("a", "a3");
  gone.abort(new Error("gone"));
  await expect(given).rejects.toThrow("gone");
  expect(begun).toEqual(["a1", "a2"]);
  await end("a1");
  expect(begun).toEqual(["a1", "a2", "a3"]);
  await end("a2");
  await end("a3");
  await Promise.all([second, third]);
});

test("a tenant beside others has one lane; alone, it has both", async () => {
  const { run, begun, clock, end } = setup();
  const all = [run("b", "b1"), ...["a1", "a2", "a3"].map((name) => run("a", name))];
  await end("b1");
  expect(begun).toEqual(["b1", "a1"]);
  all.push(run("b", "b2"));
  expect(begun).toEqual(["b1", "a1", "b2"]);
  await end("b2");
  await end("a1");
  expect(begun).toEqual(["b1", "a1", "b2", "a2"]);
  clock.now = 60_000;
  all.push(run("a", "a4"));
  expect(begun.slice(4)).toEqual(["a3"]);
  for (const name of ["a2", "a3", "a4"]) await end(name);
  await Promise.all(all);
});

test("a search takes the lane that its tenant used last, or waits for the first one", async () => {
  const { run, lanes, begun, end } = setup();
  const all = [run("a", "a1"), run("b", "b1")];
  await end("a1");
  await end("b1");
  all.push(run("b", "b2"));
  await end("b2");
  all.push(run("a", "a2"), run("b", "b3", { isFirst: true }));
  expect(begun).not.toContain("b3");
  await end("a2");
  await end("b3");
  await Promise.all(all);
  expect(Object.fromEntries(lanes)).toEqual({ a1: 0, b1: 1, b2: 1, a2: 0, b3: 0 });
});

test("work between searches waits for the running ones, and the others for it", async () => {
  const { turns, run, begun, end } = setup();
  const all = [run("a", "a1")];
  const work = Promise.withResolvers<string>();
  const between = turns.between(() => {
    begun.push("work");
    return work.promise;
  });
  all.push(run("b", "b1"));
  expect(begun).toEqual(["a1"]);
  await end("a1");
  expect(begun).toEqual(["a1", "work"]);
  work.resolve("done");
  expect(await between).toBe("done");
  expect(begun).toEqual(["a1", "work", "b1"]);
  await end("b1");
  await Promise.all(all);
});
