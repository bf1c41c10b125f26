/** Escapes foreign names as parts of a record's key. */

/** Without slashes and control characters. */
export function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of records hold none.
  return text.replace(/[%/\u0000-\u001f\u007f]/g, (found) => {
    return `%${found.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}

/** The text that was escaped. */
export function plain(text: string): string {
  return text.replace(/%([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
