/**
 * Converts a stored image to a form that a provider accepts.
 *
 * Images are stored as they came: data or an address, data inside an address, a type that is
 * missing or wrong. A provider checks the type against the bytes and refuses the request if they
 * differ, so the bytes decide. An image that cannot be sent becomes a note, because nearby text may
 * refer to it.
 */

import type { ImageBlock } from "../../model/block.ts";
import type { ImageRules } from "./rules.ts";
import type { SentImage, SentText } from "./turn.ts";

export function readImage(block: ImageBlock, rules: ImageRules): SentImage | SentText {
  const { data, url } = block;
  const inline = data ?? (url !== undefined && /^data:/i.test(url) ? url : undefined);
  if (inline !== undefined) return readData(inline, block.mediaType, rules);
  if (url === undefined) return imageNote();
  if (!url.isWellFormed() || !rules.url.test(url) || !URL.canParse(url)) return imageNote(url);
  return { type: "image", url, mediaType: typeOf(block.mediaType) ?? typeByName(url) };
}

/** Replaces an image that is not sent. */
export function imageNote(url?: string): SentText {
  if (url === undefined) return { type: "text", text: "[image left out]" };
  const shown = [...url.toWellFormed()].slice(0, 200).join("");
  return { type: "text", text: `[image left out: ${shown}]` };
}

function readData(
  inline: string,
  declared: string | undefined,
  rules: ImageRules,
): SentImage | SentText {
  const [, inUrl, behind] = DATA_URL.exec(inline) ?? [];
  const data = (behind ?? inline).replace(/\s+/g, "");
  const mediaType = typeByBytes(data) ?? typeOf(inUrl) ?? typeOf(declared);
  if (!isBase64(data) || mediaType === null || !rules.mediaTypes.includes(mediaType)) {
    return imageNote();
  }
  return { type: "image", data, mediaType };
}

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*?;base64,(.*)$/is;

export function isBase64(text: string): boolean {
  return text !== "" && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

/** The base64 prefix of each type's first bytes. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

function typeByBytes(data: string): string | null {
  return BEGINNINGS.find(([beginning]) => data.startsWith(beginning))?.[1] ?? null;
}

function typeByName(url: string): string | null {
  const [, ending] = /\.([a-z]+)(?:[?#]|$)/i.exec(url) ?? [];
  if (ending === undefined || !/^(?:png|jpe?g|gif|webp)$/i.test(ending)) return null;
  return typeOf(`image/${ending}`);
}

function typeOf(name: string | undefined): string | null {
  const lower = name?.toLowerCase() ?? "";
  if (!/^image\/[a-z0-9.+-]+$/.test(lower)) return null;
  return lower === "image/jpg" ? "image/jpeg" : lower;
}
