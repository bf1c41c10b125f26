import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import {
  compositeKey,
  hashWorkstation,
  idFromFile,
  type MachineReader,
  parseIoreg,
  parseRegistry,
  projectId,
  readMachineId,
  workstationId,
} from "./identity.ts";

/** A machine that answers from a table: paths, and command lines. */
function machine(answers: Readonly<Record<string, string>>): MachineReader {
  return {
    readText: async (path) => answers[path],
    run: async (command, ...args) => answers[[command, ...args].join(" ")],
  };
}

describe("the workstation's id", () => {
  test("INV-001: is deterministic, eight hex digits of SHA-256(hostname + machine id)", async () => {
    expect(hashWorkstation("host", "machine")).toBe("e01e8b4a");
    const environment = { home: createFolder(), variables: {}, platform: process.platform };
    const id = await workstationId(environment);
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(await workstationId(environment)).toBe(id);
  });

  test("WORKSTATION_ID overrides it, and an empty one does not", async () => {
    const environment = (id: string) => ({
      home: createFolder(),
      platform: process.platform,
      variables: { WORKSTATION_ID: id },
    });
    expect(await workstationId(environment("build-7.lan"))).toBe("build-7.lan");
    expect(await workstationId(environment(""))).toMatch(/^[0-9a-f]{8}$/);
    for (const wrong of ["a:b", "a b", "x".repeat(65), "ü"]) {
      await expect(workstationId(environment(wrong))).rejects.toMatchObject({
        code: "invalid_input",
        details: { field: "WORKSTATION_ID" },
      });
    }
  });
});

describe("the machine's id", () => {
  test("is systemd's, or D-Bus's where systemd has none", async () => {
    const linux = { platform: "linux", home: "/nowhere" };
    const both = { "/etc/machine-id": "aaaa\n", "/var/lib/dbus/machine-id": "bbbb\n" };
    expect(await readMachineId(linux, machine(both))).toBe("aaaa");
    const fresh = { ...both, "/etc/machine-id": "uninitialized\n" };
    expect(await readMachineId(linux, machine(fresh))).toBe("bbbb");
  });

  test("is the board's on macOS, and the registry's on Windows", async () => {
    const board = '  | {\n  |   "IOPlatformUUID" = "8F2D0A11-0000"\n  | }';
    expect(parseIoreg(board)).toBe("8F2D0A11-0000");
    const mac = machine({ "ioreg -rd1 -c IOPlatformExpertDevice": board });
    expect(await readMachineId({ platform: "darwin", home: "/nowhere" }, mac)).toBe(
      "8F2D0A11-0000",
    );
    const registry = "\r\nHKEY_LOCAL_MACHINE\\X\r\n    MachineGuid    REG_SZ    7c1d-22\r\n";
    expect(parseRegistry(registry)).toBe("7c1d-22");
    expect([parseIoreg(undefined), parseRegistry("ERROR")]).toEqual([undefined, undefined]);
  });

  test("is generated once where the system has none, readable by its owner only", async () => {
    const home = createFolder();
    const bare = { platform: "plan9", home };
    const ids = await Promise.all([1, 2, 3].map(() => readMachineId(bare, machine({}))));
    const kept = readFileSync(join(home, ".backscroll/machine-id"), "utf8").trim();
    expect(kept).toMatch(/^[0-9a-f-]{36}$/);
    expect(await readMachineId(bare, machine({}))).toBe(kept);
    expect(ids).toContain(kept);
    expect(statSync(join(home, ".backscroll/machine-id")).mode & 0o077).toBe(0);
  });

  test("lasts as long as the process where nothing can be stored", async () => {
    const home = createFolder();
    writeFileSync(join(home, ".backscroll"), "a file where the folder should be");
    const id = await readMachineId({ platform: "plan9", home }, machine({}));
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("a session's key", () => {
  test("INV-002: the project's id is deterministic, also without a folder", () => {
    expect(projectId("/home/user/project")).toBe(projectId("/home/user/project"));
    expect(projectId("/srv/shop")).toMatch(/^[0-9a-f]{8}$/);
    expect([projectId(""), projectId(null)]).toEqual(["e3b0c442", "e3b0c442"]);
  });

  test("INV-003: is workstation:project:session", () => {
    expect(compositeKey("5ef37fad", "e3b0c442", "8c1f/agent-1")).toBe(
      "5ef37fad:e3b0c442:8c1f/agent-1",
    );
  });

  test("falls back to the UUID in the file's name, the last of several", () => {
    const id = "6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f";
    expect(idFromFile(`/a/${id}.jsonl`)).toBe(id);
    expect(idFromFile(`/a/2026-05-04_00000000-0000-0000-0000-000000000000_${id}.jsonl`)).toBe(id);
    expect(idFromFile("/a/session.json")).toMatch(/^file-[0-9a-f]{16}$/);
    expect(idFromFile("/a/session.json")).not.toBe(idFromFile("/b/session.json"));
  });
});
