/** An attachment of a message: its id, such as `ATT00001`, and its content id, with or without angle brackets. */
interface LinkedAttachment {
  id?: unknown;
  cid?: unknown;
}

/** Content ids that cannot end an attribute. */
const CONTENT_ID = /^<?([^'"\s<>]{1,256})>?$/;

const contentIdOf = ({ cid }: LinkedAttachment): string | undefined =>
  typeof cid === 'string' ? CONTENT_ID.exec(cid)?.[1] : undefined;

/** Replaces links to content ids (`cid:x@y`) by links to attachments (`attachment:ATT00001`), as WildDuck does for readers. */
export function toAttachmentLinks(html: string, attachments: readonly LinkedAttachment[]): string {
  const ids = new Map(attachments.map((attachment) => [contentIdOf(attachment), attachment.id]));
  return html.replace(/\bcid:([^'"\s<>]{1,256})/g, (link, cid: string) =>
    ids.has(cid) ? `attachment:${String(ids.get(cid))}` : link,
  );
}

/** Replaces links to attachments by links to their content ids, for a message that is written with HTML as it was read. */
export function toContentIdLinks(html: string, attachments: readonly LinkedAttachment[]): string {
  const cids = new Map(attachments.map((attachment) => [attachment.id, contentIdOf(attachment)]));
  return html.replace(/\battachment:(ATT\d{1,12})\b/g, (link, id: string) => {
    const cid = cids.get(id);
    return cid === undefined ? link : `cid:${cid}`;
  });
}
