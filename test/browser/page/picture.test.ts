import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { takePicture } from "../../../scripts/screenshot.ts";
import { closeBrowserAfterAll, describeInBrowser, openPage } from "../../support/browser.ts";
import { createFolder } from "../../support/folder.ts";

closeBrowserAfterAll();

describeInBrowser("the picture in README", () => {
  test("is reproducible by the script, in the same size", async ({ onTestFinished }) => {
    const page = await openPage({ onTestFinished, deviceScaleFactor: 2 });
    const file = join(createFolder(), "page.png");
    await takePicture(page, file);
    const kept = join(import.meta.dirname, "../../../docs/images/page.png");
    expect(sizeOf(file)).toEqual(sizeOf(kept));
  });
});

/** Width and height stand at a fixed place of every PNG. */
function sizeOf(file: string): readonly number[] {
  const bytes = readFileSync(file);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}
