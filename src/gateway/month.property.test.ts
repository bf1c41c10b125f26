/** A month of traffic under a test clock, compared with a naive model. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { repeats } from "../../test/support/repeats.ts";
import type { GatewayConfigInput } from "./config/gateway-config.ts";
import { testGateway } from "./gateway.cases.ts";
import type { InboundMessage } from "./inbound-message.ts";

const MINUTE = 60_000;

/** Conversations and their reset rules. Both months have a change of daylight saving. */
const PLACES = [
  { message: { channel: "telegram", peer: "ana" }, hour: 2, idle: undefined },
  { message: { channel: "discord", peer: "ben" }, hour: undefined, idle: 90 },
  {
    message: { channel: "slack", peer: "C1", chatType: "channel", sender: "ana" },
    hour: 4,
    idle: 600,
  },
  {
    message: { channel: "slack", peer: "C1", chatType: "channel", sender: "ben", thread: "7" },
    hour: undefined,
    idle: undefined,
  },
] as const satisfies readonly {
  readonly message: Omit<InboundMessage, "text">;
  readonly hour: number | undefined;
  readonly idle: number | undefined;
}[];

const CONFIG: GatewayConfigInput["session"] = {
  timeZone: "Europe/Vienna",
  reset: { atHour: 2 },
  resetByType: { group: { atHour: 4, idleMinutes: 600 }, thread: { mode: "manual" } },
  resetByChannel: { Discord: { mode: "idle", idleMinutes: 90 } },
};

/** The day of a moment where days begin at `hour`, as sortable text. */
function dayOf(time: number, hour: number): string {
  const local = new Date(time).toLocaleString("sv-SE", { timeZone: "Europe/Vienna" });
  if (Number(local.slice(11, 13)) >= hour) return local.slice(0, 10);
  const [year, month, day] = local.slice(0, 10).split("-").map(Number);
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, (day ?? 1) - 1)).toISOString().slice(0, 10);
}

interface Modelled {
  readonly started: number;
  last: number;
  /** The number of earlier sessions. */
  readonly number: number;
}

function isOver({ started, last }: Modelled, place: (typeof PLACES)[number], now: number): boolean {
  const { hour, idle } = place;
  const isNewDay = hour !== undefined && dayOf(started, hour) < dayOf(now, hour);
  return isNewDay || (idle !== undefined && now - last > idle * MINUTE);
}

const event = fc.record({
  place: fc.nat(PLACES.length - 1),
  what: fc.constantFrom("say", "say", "say", "say", "heartbeat", "cron", "answer", "label", "/new"),
  gap: fc.oneof(
    fc.integer({ min: 0, max: 20 * MINUTE }),
    fc.integer({ min: 0, max: 3 * 60 * MINUTE }),
    fc.constantFrom(90 * MINUTE, 90 * MINUTE + 1, 600 * MINUTE, 24 * 60 * MINUTE),
    fc.constant(-40 * MINUTE),
  ),
});

test.each(["2026-03-15T10:00:00Z", "2026-10-10T10:00:00Z"])(
  "from %s on, every message goes where the model says",
  async (start) => {
    const { gateway, at } = await testGateway({ session: CONFIG });
    let run = 0;
    let resets = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 150, maxLength: 300 }), async (events) => {
        run++;
        let now = Date.parse(start);
        const model = new Map<number, Modelled>();
        const ids = new Map<number, string[]>();
        for (const { place: i, what, gap } of events) {
          now += gap;
          at(now);
          const place = PLACES[i] ?? PLACES[0];
          const known = model.get(i);
          // Each run has its own accounts, so that one store serves all runs.
          const message = { ...place.message, agent: `run-${run}`, append: true };
          if (what === "answer" || what === "label") {
            if (known === undefined) continue;
            const session = await gateway.tenant.getSession(ids.get(i)?.at(-1) ?? "");
            if (what === "label") await session.setTitle(`at ${now}`);
            else await session.append({ role: "assistant", actor: "a", content: "answer" });
            continue;
          }
          const kind = what === "heartbeat" || what === "cron" ? what : "message";
          const text = what === "/new" ? "/new please" : "words";
          const turn = await gateway.inbound({ ...message, kind, text });
          const isAsked = what === "/new" && known !== undefined;
          const isNew =
            known === undefined || isAsked || (kind === "message" && isOver(known, place, now));
          if (isNew) {
            model.set(i, { started: now, last: now, number: (known?.number ?? -1) + 1 });
            ids.set(i, [...(ids.get(i) ?? []), turn.session?.id ?? ""]);
            if (known !== undefined) resets++;
          } else if (kind === "message") {
            known.last = Math.max(known.last, now);
          }
          const where = `${what} in place ${i} at ${new Date(now).toISOString()}: ${turn.why}`;
          expect(turn.session?.id, where).toBe(ids.get(i)?.at(-1));
          expect(turn.action === "continued", where).toBe(!isNew);
        }
        for (const [i, sessions] of ids) {
          expect(new Set(sessions).size).toBe((model.get(i)?.number ?? 0) + 1);
          const { message } = PLACES[i] ?? PLACES[0];
          const key = gateway.keyOf({ ...message, agent: `run-${run}`, text: "" });
          const history = await gateway.tenant.routes.history(key, { limit: 500 });
          expect(history.map(({ sessionId }) => sessionId)).toEqual(sessions.toReversed());
        }
      }),
      { numRuns: repeats(2, 20) },
    );
    expect(resets).toBeGreaterThan(100);
  },
);
