import { percentDecoded } from '../text/index.js';

/** An attachment of a message: its id, such as `ATT00001`, and its content id, with or without angle brackets. */
interface LinkedAttachment {
  id?: unknown;
  cid?: unknown;
  contentType?: unknown;
}

/** An attachment as it is read, with the value of its Content-Location (RFC 2557). */
export interface ReadAttachment extends LinkedAttachment {
  location?: string | undefined;
  /** Part of the same multipart/related as the HTML. */
  related?: boolean | undefined;
}

/** Content ids that cannot end an attribute. */
const CONTENT_ID = /^\s*<?([^'"\s<>]{1,256})>?\s*$/;
const CID_LINK = /\bcid:([^'"\s<>)]{1,768})/gi;
/** Attributes and CSS values that show an image or load another resource. */
const RESOURCE =
  /(\b(?:src|background)\s*=\s*)("[^"]{0,2048}"|'[^']{0,2048}'|[^\s"'>]{1,2048})|(\burl\(\s*)("[^"]{0,2048}"|'[^']{0,2048}'|[^\s"')]{1,2048})/gi;
const ATTACHMENT_LINK = /((?:\b(?:src|background)\s*=|\burl\()\s*["']?\s*)?\battachment:(ATT\d{1,12})\b/gi;
/** The link to a file that the message does not contain. No part has this content id. */
const MISSING = 'cid:missing@invalid';

/** @returns the content id without angle brackets; undefined without a usable one */
export const contentIdOf = ({ cid }: LinkedAttachment): string | undefined =>
  typeof cid === 'string' ? CONTENT_ID.exec(cid)?.[1] : undefined;

/**
 * Replaces links to attachments (`cid:x@y`, RFC 2392, and Content-Location, RFC 2557) by `attachment:ATT00001`, as WildDuck does
 * for readers. If several attachments have one content id, the first one beside the HTML counts.
 * @param base the Content-Location of the HTML
 */
export function toAttachmentLinks(
  html: string,
  attachments: readonly ReadAttachment[],
  base?: string,
): string {
  const ids = firstIds(attachments, contentIdOf);
  const linked = html.replace(CID_LINK, (link, written: string) => {
    const cid = decodeLink(written);
    const id = ids.get(cid) ?? ids.get(written);
    return id === undefined ? link : `attachment:${id}`;
  });
  const locations = firstIds(attachments, ({ location }) => location && resolved(location, base));
  if (locations.size === 0) return linked;
  return linked.replace(
    RESOURCE,
    (whole, before: string | undefined, value: string, css: string | undefined, cssValue: string) => {
      const written = value ?? cssValue;
      const quote = /^["']/.exec(written)?.[0] ?? '';
      const address = quote === '' ? written : written.slice(1, -1);
      if (/^(?:attachment|data|cid):/i.test(address)) return whole;
      const id = locations.get(resolved(entities(address), base) ?? '');
      return id === undefined ? whole : `${before ?? css}${quote}attachment:${id}${quote}`;
    },
  );
}

/**
 * Replaces links to attachments by links to their content ids, for a message that is written with HTML as it was read. A link to an
 * attachment that is not in the list, or an image that is none, becomes a link to nothing: numbers of the old message have another
 * meaning in the new one.
 * @param attachments of several with one id, the last one counts
 */
export function toContentIdLinks(html: string, attachments: readonly LinkedAttachment[]): string {
  return html.replace(ATTACHMENT_LINK, (_, resource: string | undefined, id: string) => {
    const found = attachments.findLast(
      (attachment) =>
        attachment.id === id.toUpperCase() &&
        contentIdOf(attachment) !== undefined &&
        (resource === undefined || mayBeShown(attachment)),
    );
    return (resource ?? '') + (found ? `cid:${contentIdOf(found)}` : MISSING);
  });
}

/** True when the HTML links to the attachment by its id (`attachment:ATT00001`) or its content id. */
export function isLinked(html: string, { id, cid }: LinkedAttachment): boolean {
  const contentId = contentIdOf({ cid });
  if (typeof id === 'string' && new RegExp(`\\battachment:${id}\\b`, 'i').test(html)) return true;
  if (contentId === undefined) return false;
  for (const [, written = ''] of html.matchAll(CID_LINK))
    if (decodeLink(written) === contentId || written === contentId) return true;
  return false;
}

/** False for a file of a known type that is no image. Some mail programs send images as bytes of an unknown type. */
const mayBeShown = ({ contentType }: LinkedAttachment): boolean =>
  typeof contentType !== 'string' ||
  contentType === '' ||
  /^(?:image|audio|video)\/|^application\/octet-stream\b/i.test(contentType);

function firstIds(
  attachments: readonly ReadAttachment[],
  keyOf: (attachment: ReadAttachment) => string | undefined,
): Map<string, string> {
  const ids = new Map<string, string>();
  const sorted = attachments.toSorted(
    (one, other) => Number(other.related === true) - Number(one.related === true),
  );
  for (const attachment of sorted) {
    const key = keyOf(attachment);
    if (key && !ids.has(key)) ids.set(key, String(attachment.id));
  }
  return ids;
}

const entities = (value: string): string => value.replaceAll(/&amp;|&#38;|&#x26;/gi, '&');

/** The content id of a URL (RFC 2392): percent-encoded, within an attribute. */
function decodeLink(written: string): string {
  return percentDecoded(entities(written));
}

/** The absolute URL (RFC 2557 section 5); undefined for an invalid one. */
function resolved(address: string, base: string | undefined): string | undefined {
  const from =
    base !== undefined && URL.canParse(base, 'thismessage:/')
      ? new URL(base, 'thismessage:/').href
      : 'thismessage:/';
  const text = address.trim();
  return text !== '' && URL.canParse(text, from) ? new URL(text, from).href : undefined;
}
