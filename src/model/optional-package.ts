/** Packages that a host installs beside this one, for what not everyone needs. */

import { BackscrollError } from "./errors.ts";

/**
 * Gives what `load` imports. Where the package `name` is not installed, it throws `invalid_input` with the
 * way out. `purpose` begins the sentence: "PostgreSQL needs".
 */
export async function loadOptional<Module>(
  name: string,
  purpose: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as { readonly code?: unknown; readonly message?: string };
    // The second is of `require`, which a bundle in CommonJS calls.
    const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
    if (!isMissing || !message?.includes(`'${name}'`)) throw cause;
    throw new BackscrollError(
      "invalid_input",
      `${purpose} the package ${name}: npm install ${name} (with -g, if backscroll was installed so)`,
      { details: { package: name }, cause },
    );
  }
}
