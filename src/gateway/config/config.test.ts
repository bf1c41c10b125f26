import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { resolveResetPolicy } from "../../routing/resets.ts";
import type { GatewayConfigInput } from "./gateway-config.ts";
import { loadConfig, readConfig } from "./read-config.ts";
import { presetOf, SETTINGS } from "./settings.ts";

const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

describe("a configuration", () => {
  test("without settings has these defaults", () => {
    const { config } = readConfig({});
    expect(config).toEqual({
      session: {
        dmScope: "per-channel-peer",
        mainKey: "main",
        identityLinks: {},
        timeZone: zone,
        resetTriggers: ["/new", "/reset"],
        parentForkMaxTokens: 100_000,
        maintenance: {
          mode: "off",
          pruneAfter: 30 * 86_400_000,
          maxEntries: 500,
          ingested: [],
          maxDiskBytes: null,
          highWaterBytes: null,
        },
      },
      compaction: {
        enabled: true,
        policy: "turns",
        reserveTokens: 16_384,
        keepRecentTokens: 20_000,
        inputTokens: 200_000,
        summarizer: "mechanical",
      },
      agents: {
        defaults: {
          id: "main",
          model: null,
          instructions: null,
          contextTokens: null,
          compaction: {
            reserveTokensFloor: 20_000,
            memoryFlush: {
              enabled: true,
              softThresholdTokens: 4_000,
              prompt: null,
              systemPrompt: null,
            },
          },
        },
      },
      embedder: { url: null, model: null, dimensions: null },
      ignore: { folders: [], repositories: [], agents: [], patterns: [] },
      secrets: { prefixes: [] },
      keep: null,
      unasked: { errors: "on", starts: "on", files: "log", prompts: "log" },
      silence: "whole",
    });
  });

  test("reads its own output unchanged", () => {
    const written: GatewayConfigInput = {
      session: {
        dmScope: "main",
        idleMinutes: 90,
        identityLinks: { "ana.b": ["telegram:1"] },
        resetByChannel: { discord: { mode: "idle" } },
        resetByType: { dm: { atHour: 9 } },
        maintenance: { mode: "warn", pruneAfter: "2w", maxDiskBytes: "500mb" },
      },
      agents: { defaults: { compaction: { memoryFlush: { prompt: "Write now." } } } },
    };
    const { config } = readConfig(written);
    expect(config.session).toMatchObject({
      dmScope: "main",
      idleMinutes: 90,
      identityLinks: { "ana.b": ["telegram:1"] },
      resetByChannel: { discord: { mode: "idle" } },
      maintenance: { pruneAfter: 14 * 86_400_000, maxDiskBytes: 500 * 1024 ** 2 },
    });
    expect(readConfig(config)).toMatchObject({ config });
  });

  test("names the source of each setting's value", () => {
    const variables = { CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS: "5000" };
    const read = readConfig(
      { compaction: { inputTokens: 7, reserveTokens: 8 }, session: { resetByChannel: { x: {} } } },
      variables,
    );
    const of = (key: string) => {
      const setting = read.settings.find((each) => each.key === key);
      return [setting?.value, setting?.from];
    };
    expect(of("compaction.inputTokens")).toEqual([5_000, "environment"]);
    expect(of("compaction.reserveTokens")).toEqual([8, "file"]);
    expect(of("compaction.keepRecentTokens")).toEqual([20_000, "default"]);
    expect(of("session.reset.mode")).toEqual(["daily", "default"]);
    expect(of("session.identityLinks.*")).toEqual([null, "default"]);
    expect(read.config.compaction.inputTokens).toBe(5_000);
  });

  test.each(["0", "-5", "many", "", "1e3", " "])("refuses %j from a variable", (text) => {
    const variables = { CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS: text };
    expect(readConfig({}, variables).config.compaction.inputTokens).toBe(200_000);
  });

  test.each([
    ['{"session":{"dmscope":"main"}}', "session.dmscope", "did you mean session.dmScope?"],
    [
      '{"session":{"reset":{"hour":4}}}',
      "session.reset.hour",
      "did you mean session.reset.atHour?",
    ],
    ['{"sesion":{"dmScope":"main"}}', "sesion", "did you mean session?"],
    [
      '{"session":{"resetByChannel":{"tv":{"mods":"idle"}}}}',
      "session.resetByChannel.tv.mods",
      "did you mean session.resetByChannel.tv.mode?",
    ],
    ['{"session":{"__proto__":{"a":1}}}', "session.__proto__", "it may have session.dmScope"],
    ['{"gateway":{"port":1}}', "gateway", "it may have session, compaction"],
    ['{"ignore":{"folder":["/a"]}}', "ignore.folder", "did you mean ignore.folders?"],
    [
      '{"compaction":{"preserve_recent_messages":4}}',
      "compaction.preserve_recent_messages",
      'set compaction.policy to "claw"',
    ],
  ])("refuses the unknown key in %s", (text, field, way) => {
    expect(() => readConfig(JSON.parse(text))).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: expect.stringContaining(`has no field "${field}"; ${way}`),
        details: expect.objectContaining({ field }),
      }),
    );
    expect(Object.hasOwn(Object.prototype, "a")).toBe(false);
  });

  test.each([
    ["session.dmScope", { session: { dmScope: "per-person" } }, /one of main, per-peer/],
    ["session.reset.atHour", { session: { reset: { atHour: "4" } } }, /a number/],
    ["session.reset", { session: { reset: "daily" } }, /an object/],
    ["session.resetByChannel.x.mode", { session: { resetByChannel: { x: { mode: 1 } } } }, /daily/],
    ["session.identityLinks.ana", { session: { identityLinks: { ana: "1" } } }, /list of texts/],
    ["session.timeZone", { session: { timeZone: "Moon/Sea" } }, /Europe\/Vienna/],
    ["session.resetTriggers", { session: { resetTriggers: ["/new", ""] } }, /list of texts/],
    ["session.maintenance.pruneAfter", { session: { maintenance: { pruneAfter: "soon" } } }, /30d/],
    ["session.maintenance.maxDiskBytes", { session: { maintenance: { maxDiskBytes: -1 } } }, /gb/],
    ["compaction.enabled", { compaction: { enabled: "no" } }, /true or false/],
    ["compaction.reserveTokens", { compaction: { reserveTokens: 1.5 } }, /whole number/],
    ["compaction.summarizer", { compaction: { summarizer: "me" } }, /one of mechanical, model/],
    ["agents.defaults.model", { agents: { defaults: { model: "" } } }, /not empty/],
    ["agents.defaults.instructions", { agents: { defaults: { instructions: 1 } } }, /a text/],
    ["silence", { silence: "never" }, /one of whole, leading/],
    ["ignore.folders", { ignore: { folders: "~/secret" } }, /list of texts/],
    ["keep", { keep: "1h" }, /"forever", or a duration of at least a day/],
    ["the configuration", [], /an object/],
  ])("names %s if it is wrong", (field, input, message) => {
    const error = expect.objectContaining({ code: "invalid_input", details: { field } });
    expect(() => readConfig(input as never)).toThrow(error);
    expect(() => readConfig(input as never)).toThrow(message);
  });

  test("with the older minutes alone resets after idle time, and daily with any newer setting", () => {
    const policy = (session: object) =>
      resolveResetPolicy(readConfig({ session }).config.session, "direct", undefined).mode;
    expect(policy({ idleMinutes: 5 })).toBe("idle");
    expect(policy({ idleMinutes: 5, reset: { atHour: 3 } })).toBe("daily");
    expect(policy({})).toBe("daily");
  });

  test("has a default of the right kind for each setting", () => {
    for (const setting of SETTINGS) {
      const { key, kind } = setting;
      const preset = presetOf(setting);
      expect(preset === null || kind.read(preset) !== undefined, key).toBe(true);
    }
  });
});

describe("the configuration file", () => {
  test("may be absent", () => {
    const home = createFolder();
    const loaded = loadConfig(home, {});
    expect(loaded).toMatchObject({ path: join(home, ".backscroll", "config.json"), exists: false });
  });

  test("is in the home folder, or where a variable says", () => {
    const home = createFolder();
    mkdirSync(join(home, ".backscroll"));
    const other = join(home, "other.json");
    writeFileSync(join(home, ".backscroll", "config.json"), '\uFEFF{"silence":"leading"}');
    writeFileSync(other, '{"session":{"mainKey":"home"}}');
    expect(loadConfig(home, {}).config.silence).toBe("leading");
    const variables = { BACKSCROLL_CONFIG: other };
    expect(loadConfig(home, variables).config.session.mainKey).toBe("home");
    expect(loadConfig(home, { BACKSCROLL_CONFIG: "" }).config.silence).toBe("leading");
  });

  test("is named in its errors", () => {
    const home = createFolder();
    const path = join(home, "bad.json");
    const variables = { BACKSCROLL_CONFIG: path };
    expect(() => loadConfig(home, variables)).toThrow(/there is no file .*bad\.json/);
    writeFileSync(path, '{ "session": ');
    expect(() => loadConfig(home, variables)).toThrow(/bad\.json is not JSON/);
    writeFileSync(path, '{"session":{"dmScope":1}}');
    expect(() => loadConfig(home, variables)).toThrow(/session\.dmScope must be.*see .*bad\.json/);
  });
});
