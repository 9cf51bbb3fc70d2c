/** Bytes within cards: data URIs (RFC 2397) and the image types of vCard 2.1 and 3.0. */

export interface Media {
  media_type: string | null;
  data: Uint8Array;
}

/** The bytes of a data URI; undefined for any other text. */
export function parseDataUri(uri: string): Media | undefined {
  const comma = uri.indexOf(',');
  if (comma < 0 || !/^data:/i.test(uri)) return undefined;
  const [type = '', ...parameters] = uri.slice('data:'.length, comma).split(';');
  const payload = uri.slice(comma + 1);
  const media_type = type.trim().toLowerCase() || null;
  if (parameters.at(-1)?.trim().toLowerCase() === 'base64')
    return { media_type, data: Buffer.from(payload, 'base64') };
  try {
    return { media_type, data: Buffer.from(decodeURIComponent(payload)) };
  } catch {
    return undefined;
  }
}

export function formatDataUri({ media_type, data }: Media): string {
  return `data:${media_type ?? ''};base64,${base64(data)}`;
}

export function base64(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
}

/** `JPEG` and `image/jpeg` become `image/jpeg`; null for types that do not look like a media type. */
export function mediaTypeOf(type: string | undefined, family: string): string | null {
  const lower = type?.trim().toLowerCase();
  if (!lower) return null;
  const subtype = lower === 'jpg' ? 'jpeg' : lower;
  const full = subtype.includes('/') ? subtype : `${family}/${subtype}`;
  return /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(full) ? full : null;
}

/** The TYPE of vCard 3.0: `JPEG` for `image/jpeg`, the whole name for types outside the family. */
export function shortType(mediaType: string, family: string): string {
  return mediaType.startsWith(`${family}/`) ? mediaType.slice(family.length + 1).toUpperCase() : mediaType;
}

/** The family of media types that a property contains. */
export const MEDIA_FAMILY: ReadonlyMap<string, string> = new Map([
  ['PHOTO', 'image'],
  ['LOGO', 'image'],
  ['X-MS-CARDPICTURE', 'image'],
  ['SOUND', 'audio'],
  ['KEY', 'application'],
]);
