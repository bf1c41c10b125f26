/**
 * Why another program's configuration cannot be edited; the message becomes part of an error that
 * names the file.
 */

export class ConfigError extends Error {
  /** From 1. */
  readonly line: number;

  constructor(message: string, text: string, at: number) {
    super(message);
    this.line = lineAt(text, at);
  }
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}
