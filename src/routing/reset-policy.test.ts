import { expect, test } from "vitest";
import {
  type ResetConfig,
  type ResetPolicy,
  type ResetType,
  resolveResetPolicy,
} from "./resets.ts";

const DAILY = { mode: "daily", atHour: 4, idleMinutes: null } as const;

const TABLE: readonly (readonly [
  string,
  ResetConfig,
  ResetType,
  string | undefined,
  ResetPolicy,
])[] = [
  ["the default", {}, "direct", "telegram", DAILY],
  ["an hour", { reset: { atHour: 6 } }, "group", "x", { ...DAILY, atHour: 6 }],
  ["both rules", { reset: { idleMinutes: 30 } }, "direct", "x", { ...DAILY, idleMinutes: 30 }],
  [
    "idle without minutes",
    { reset: { mode: "idle" } },
    "direct",
    "x",
    { mode: "idle", atHour: 4, idleMinutes: 60 },
  ],
  ["manual mode", { reset: { mode: "manual" } }, "direct", "x", { ...DAILY, mode: "manual" }],
  [
    "the legacy idleMinutes alone",
    { idleMinutes: 90 },
    "thread",
    "x",
    { mode: "idle", atHour: 4, idleMinutes: 90 },
  ],
  [
    "the legacy idleMinutes beside reset",
    { idleMinutes: 90, reset: { atHour: 5 } },
    "direct",
    "x",
    { mode: "daily", atHour: 5, idleMinutes: 90 },
  ],
  [
    "reset.idleMinutes overrides the legacy one",
    { idleMinutes: 90, reset: { idleMinutes: 10 } },
    "direct",
    "x",
    { ...DAILY, idleMinutes: 10 },
  ],
  [
    "a type overrides the general policy field by field",
    { reset: { atHour: 6, idleMinutes: 30 }, resetByType: { group: { idleMinutes: 120 } } },
    "group",
    "x",
    { mode: "daily", atHour: 6, idleMinutes: 120 },
  ],
  [
    "the policy of another type has no effect",
    { reset: { atHour: 6 }, resetByType: { group: { mode: "idle" } } },
    "thread",
    "x",
    { ...DAILY, atHour: 6 },
  ],
  [
    "the legacy name of a type",
    { resetByType: { dm: { mode: "idle", idleMinutes: 5 } } },
    "direct",
    "x",
    { mode: "idle", atHour: 4, idleMinutes: 5 },
  ],
  [
    "the new name overrides the legacy one",
    { resetByType: { dm: { atHour: 1 }, direct: { atHour: 2 } } },
    "direct",
    "x",
    { ...DAILY, atHour: 2 },
  ],
  [
    "an empty list of types has no effect",
    { resetByType: {}, idleMinutes: 9 },
    "direct",
    "x",
    {
      ...DAILY,
      idleMinutes: 9,
    },
  ],
  [
    "a channel replaces all other settings",
    {
      reset: { mode: "idle", atHour: 6 },
      resetByType: { direct: { idleMinutes: 10 } },
      idleMinutes: 90,
      resetByChannel: { Discord: { atHour: 8 } },
    },
    "direct",
    "discord",
    { ...DAILY, atHour: 8 },
  ],
  [
    "the policy of another channel has no effect",
    { reset: { atHour: 6 }, resetByChannel: { discord: { atHour: 8 } } },
    "direct",
    undefined,
    { ...DAILY, atHour: 6 },
  ],
  ["an hour above 23 is 23", { reset: { atHour: 99 } }, "direct", "x", { ...DAILY, atHour: 23 }],
  ["a negative hour is 0", { reset: { atHour: -1.5 } }, "direct", "x", { ...DAILY, atHour: 0 }],
  ["a fraction of an hour is dropped", { reset: { atHour: 4.9 } }, "direct", "x", DAILY],
  [
    "the minimum is a minute",
    { reset: { mode: "idle", idleMinutes: 0.5 } },
    "direct",
    "x",
    { mode: "idle", atHour: 4, idleMinutes: 1 },
  ],
  [
    "NaN is ignored",
    { reset: { atHour: Number.NaN, idleMinutes: Number.NaN } },
    "direct",
    "x",
    DAILY,
  ],
];

test.each(TABLE)("%s", (_name, config, type, channel, expected) => {
  expect(resolveResetPolicy(config, type, channel)).toEqual(expected);
});
