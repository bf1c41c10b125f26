/** Model prices on this machine: built-in, or from a file. */

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { BackscrollError } from "../../model/errors.ts";
import { LIST_PRICES, type PriceTable, readPrices } from "../../model/prices.ts";
import { readVariable } from "../../model/variables.ts";

/** `BACKSCROLL_PRICES`, else `~/.backscroll/prices.json` if it is there. */
export function ownPrices(): PriceTable {
  const named = readVariable("BACKSCROLL_PRICES", process.env);
  const usual = join(homedir(), ".backscroll", "prices.json");
  if (named) return readPricesFile(named);
  return existsSync(usual) ? readPricesFile(usual) : LIST_PRICES;
}

export function readPricesFile(file: string): PriceTable {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const message = `the prices in ${file} cannot be read: ${(cause as Error).message}`;
    throw new BackscrollError("invalid_input", message, { details: { field: "prices", file } });
  }
  return readPrices(text, file);
}
