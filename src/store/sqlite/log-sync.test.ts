import { expect, test } from "vitest";
import { LogSync } from "./log-sync.ts";

/** A device whose syncs take as long as it is told, and a clock that only they and `wait` move. */
class Device {
  now = 0;
  ms: number;
  stalledMs = 0;
  here = 0;
  inBackground = 0;
  error: Error | undefined;
  readonly log: LogSync;

  constructor(ms: number) {
    this.ms = ms;
    this.log = new LogSync({
      now: () => this.now,
      here: () => {
        this.here++;
        this.now += this.ms;
        this.stalledMs += this.ms;
        if (this.error !== undefined) throw this.error;
      },
      inBackground: (_file, done) => {
        this.inBackground++;
        this.now += this.ms;
        done(this.error ?? null);
      },
    });
  }

  async syncs(count: number, everyMs = 1): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.log.sync(1);
      this.now += everyMs;
    }
  }
}

test("a quick device is waited for, after a first sync that showed it", async () => {
  const device = new Device(0.1);
  await device.syncs(1_000);
  expect([device.inBackground, device.here]).toEqual([1, 999]);
});

test("a slow device is never waited for", async () => {
  const device = new Device(0.8);
  await device.syncs(1_000);
  expect([device.inBackground, device.here]).toEqual([1_000, 0]);
});

test("a device that becomes slow is noticed", async () => {
  const device = new Device(0.1);
  await device.syncs(100);
  device.ms = 1;
  await device.syncs(1_000);
  expect(device.here).toBeLessThan(110);
});

test("one that becomes quick again is noticed too", async () => {
  const device = new Device(1);
  await device.syncs(100);
  device.ms = 0.1;
  await device.syncs(1_000);
  expect(device.here).toBeGreaterThan(900);
});

test("after one stall the host keeps away for a hundred times as long", async () => {
  const device = new Device(0.1);
  await device.syncs(100);
  device.ms = 20;
  await device.syncs(1);
  device.ms = 0.1;
  const before = device.here;
  await device.syncs(1_000);
  expect(device.here).toBe(before);
  await device.syncs(2_500);
  expect(device.here).toBeGreaterThan(before + 1_000);
});

test("a device that stalls now and then stalls the host in a hundredth of the time at most", async () => {
  const device = new Device(0.1);
  for (let i = 0; i < 20_000; i++) {
    device.ms = i % 50 === 49 ? 30 : 0.1;
    await device.syncs(1, 0);
  }
  const stallsMs = device.stalledMs - 0.1 * device.here;
  expect(stallsMs).toBeGreaterThan(0);
  expect(stallsMs / device.now).toBeLessThan(0.011);
});

test("a stall in the background costs the host nothing, and is soon forgotten", async () => {
  const device = new Device(50);
  await device.syncs(1);
  device.ms = 0.1;
  await device.syncs(1_000);
  expect(device.here).toBeGreaterThan(900);
});

test("a sync that fails is told, wherever it was made", async () => {
  const device = new Device(0.1);
  device.error = new Error("the disk is gone");
  await expect(device.log.sync(1)).rejects.toThrow("the disk is gone");
  expect(() => device.log.sync(1)).toThrow("the disk is gone");
  expect([device.inBackground, device.here]).toEqual([1, 1]);
});
