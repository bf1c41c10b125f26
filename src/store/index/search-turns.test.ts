import { expect, test } from "vitest";
import { SearchTurns } from "./search-turns.ts";

/** Searches that end on request; `begun` lists the started ones, in order. */
function setup() {
  const turns = new SearchTurns();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (tenant: string, name: string, signal?: AbortSignal) =>
    turns.run(
      tenant,
      () => {
        begun.push(name);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      },
      signal,
    );
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { run, begun, end };
}

test("round robin: a burst of one tenant does not delay another tenant's search", async () => {
  const { run, begun, end } = setup();
  const all = ["a1", "a2", "a3", "a4"].map((name) => run("a", name));
  const other = run("b", "b1");
  expect(begun).toEqual(["a1", "a2"]);
  await end("a1");
  await end("a2");
  expect(begun).toEqual(["a1", "a2", "a3", "b1"]);
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
    await expect(turns.run("a", fail, undefined)).rejects.toThrow("no thread");
  }
  expect(await turns.run("b", async () => "found", undefined)).toBe("found");
});

test("an aborted queued search never starts, and does not block others", async () => {
  const { run, begun, end } = setup();
  const gone = new AbortController();
  const first = [run("a", "a1"), run("a", "a2")];
  const given = run("a", "a3", gone.signal);
  const last = run("a", "a4");
  gone.abort(new Error("gone"));
  await expect(given).rejects.toThrow("gone");
  await expect(run("a", "a5", gone.signal)).rejects.toThrow("gone");
  await end("a1");
  await end("a2");
  await end("a4");
  await Promise.all([...first, last]);
  expect(begun).toEqual(["a1", "a2", "a4"]);
});

test("an aborted running search is rejected at once, and keeps its slot until it ends", async () => {
  const { run, begun, end } = setup();
  const gone = new AbortController();
  const given = run("a", "a1", gone.signal);
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
