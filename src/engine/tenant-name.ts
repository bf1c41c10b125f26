import { BackscrollError } from "../model/errors.ts";

export function checkTenantName(name: string): string {
  if (typeof name === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) return name;
  throw new BackscrollError(
    "invalid_input",
    "tenant must be 1 to 128 letters, digits, dots, dashes or underscores, starting with a letter or digit",
    { details: { field: "tenant" } },
  );
}
