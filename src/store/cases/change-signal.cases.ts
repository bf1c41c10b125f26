import { describe, expect, test, vi } from "vitest";
import { append, type Cases, createSession, message } from "./fixture.cases.ts";

export function changeSignalCases({ store, tenant, another }: Cases): void {
  describe("onChange", () => {
    test("signals commits of this store and of others, until stopped", async () => {
      const acme = tenant();
      const other = await another();
      const { id } = await createSession(store(), acme);
      const told = vi.fn();
      const end = other.onChange(told);
      await vi.waitFor(() => expect(told).toHaveBeenCalled(), { timeout: 60_000 });
      for (const writer of [store(), other, store()]) {
        told.mockClear();
        await append(writer, acme, id, message("x"));
        await vi.waitFor(() => expect(told).toHaveBeenCalled(), { timeout: 60_000 });
      }
      end();
      told.mockClear();
      await append(other, acme, id, message("x"));
      await append(store(), acme, id, message("x"));
      await new Promise((resolve) => setTimeout(resolve, 120));
      expect(told).not.toHaveBeenCalled();
    });
  });
}
