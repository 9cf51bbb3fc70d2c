import type { MessageRow } from './messages.repository.js';

/** The response for one message. Members without a value are omitted. */
export function presentMessage(userId: string, row: MessageRow): Record<string, unknown> {
  const { from, replyTo, to, cc, bcc, references, contentType, attachments, envelope } = row.summary;
  return {
    success: true,
    id: Number(row.uid),
    mailbox: row.mailbox_id,
    thread: row.thread,
    user: userId,
    envelope,
    from: from ?? { address: '', name: '' },
    ...(replyTo.length > 0 && { replyTo }),
    ...(to.length > 0 && { to }),
    ...(cc.length > 0 && { cc }),
    ...(bcc.length > 0 && { bcc }),
    subject: row.subject,
    messageId: row.message_id,
    date: row.hdate.toISOString(),
    idate: row.idate.toISOString(),
    size: Number(row.size),
    seen: row.seen,
    unseen: !row.seen,
    deleted: row.deleted,
    flagged: row.flagged,
    draft: row.draft,
    answered: row.answered,
    forwarded: row.forwarded,
    html: row.body_html === null ? [] : [row.body_html],
    text: row.body_text,
    headers: Object.entries(row.headers).flatMap(([key, values]) => values.map((value) => ({ key, value }))),
    attachments,
    references,
    metaData: row.meta_data,
    ...(row.reference && { reference: row.reference }),
    ...(row.expires_at && { expires: row.expires_at.toISOString() }),
    ...(row.queued && { outbound: [{ queueId: row.queue_id }] }),
    contentType,
  };
}
