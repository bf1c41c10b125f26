import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const CSS = readFileSync(join(import.meta.dirname, "1-base.css"), "utf8");

/** The contrast that WCAG 2 AA requires of normal text. */
const ENOUGH = 4.5;

const INKS = ["text", "muted", "accent", "bad", "good", "warn"];
const GROUNDS = ["back", "panel", "sunk"];
const PAIRS: readonly (readonly [ink: string, ground: string])[] = [
  ...INKS.flatMap((ink) => GROUNDS.map((ground) => [ink, ground] as const)),
  ["text", "accent-soft"],
  ["text", "good-soft"],
  ["bad", "bad-soft"],
  ["mark-text", "mark"],
  ["on-accent", "accent"],
];

for (const [at, theme] of ["light", "dark"].entries()) {
  test(`every text has enough contrast with its background, in the ${theme} theme`, () => {
    const pale = PAIRS.filter(
      ([ink, ground]) => contrast(colour(ink, at), colour(ground, at)) < ENOUGH,
    );
    expect(pale).toEqual([]);
  });
}

function colour(name: string, at: number): string {
  const found = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(CSS);
  return found?.[at + 1] ?? "";
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** The relative luminance of an sRGB colour by WCAG. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
