import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { mailErrors } from '../mail-error.js';
import { MailboxesRepository } from '../mailboxes/mailboxes.repository.js';
import { hasStatus, openAttachment } from '../mime/attachments.js';
import type { AttachmentInfo } from '../mime/message.js';
import { RawMessages } from '../storage/raw-messages.js';
import {
  type FlagChange,
  listOf,
  type MessageRow,
  MessagesRepository,
  parseUids,
  type UidSet,
} from './messages.repository.js';

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

/** Fields of a PUT on messages. */
export interface UpdateRequest {
  user: string;
  mailbox: string;
  message: string;
  moveTo?: string;
  seen?: boolean;
  flagged?: boolean;
  deleted?: boolean;
  draft?: boolean;
  expires?: Date | false;
  metaData?: Record<string, unknown>;
  /** Deletes the messages permanently. */
  delete?: true;
}

/** Reads, changes and deletes messages. */
@Injectable()
export class MessagesService {
  constructor(
    private readonly mailboxes: MailboxesRepository,
    private readonly messages: MessagesRepository,
    private readonly raws: RawMessages,
  ) {}

  async read(
    userId: string,
    mailbox: string,
    uid: number,
    markAsSeen: boolean,
  ): Promise<Record<string, unknown>> {
    const row = await this.find(userId, mailbox, uid);
    if (markAsSeen && !row.seen) {
      await this.messages.flag(userId, mailbox, listOf([uid]), { seen: true });
      row.seen = true;
    }
    return presentMessage(userId, row);
  }

  /** The raw message. */
  async source(userId: string, mailbox: string, uid: number): Promise<Readable> {
    const row = await this.messages.findRaw(userId, mailbox, uid);
    if (!row) throw mailErrors.noMessage();
    return this.raws.open(row.raw_id);
  }

  async attachment(
    userId: string,
    mailbox: string,
    uid: number,
    id: string,
  ): Promise<{ info: AttachmentInfo; stream: Readable }> {
    const row = await this.messages.findRaw(userId, mailbox, uid);
    if (!row) throw mailErrors.noMessage();
    const info = row.attachments.find((attachment) => attachment.id === id.toUpperCase());
    if (!info) throw mailErrors.noAttachment();
    const raw = await this.raws.open(row.raw_id);
    return { info, stream: await openAttachment(raw, info.id, hasStatus(row.attachments)) };
  }

  /** Moves messages, changes their flags, or both. */
  async update(request: UpdateRequest): Promise<Record<string, unknown>> {
    const { user, mailbox, moveTo } = request;
    const set = parseUids(request.message);
    if (request.delete) return this.removeMany(user, mailbox, set);
    if (moveTo !== undefined) return this.move(request, set, moveTo);
    const change = flagsOf(request);
    const updated = await this.messages.flag(user, mailbox, set, change);
    if (updated === 0) throw mailErrors.noMatch();
    return { success: true, updated };
  }

  async remove(userId: string, mailbox: string, uid: number): Promise<{ success: true }> {
    if ((await this.messages.remove(userId, mailbox, listOf([uid]))) === 0) throw mailErrors.notDeleted();
    return { success: true };
  }

  private async removeMany(userId: string, mailbox: string, set: UidSet): Promise<Record<string, unknown>> {
    const deleted = await this.messages.remove(userId, mailbox, set);
    if (deleted === 0) throw mailErrors.noMatch();
    return { success: true, deleted };
  }

  /** @throws MailError 404 for an unknown mailbox or message */
  async find(userId: string, mailbox: string, uid: number): Promise<MessageRow> {
    const row = await this.messages.find(userId, mailbox, uid);
    if (row) return row;
    throw (await this.mailboxes.find(userId, mailbox)) ? mailErrors.noMessage() : mailErrors.noMailbox();
  }

  private async move(request: UpdateRequest, set: UidSet, to: string) {
    const { user, mailbox } = request;
    const { outcome, moved } = await this.messages.move(user, mailbox, set, to, flagsOfMove(request));
    if (outcome === 'no_target') throw mailErrors.noMailbox();
    if (outcome === 'none') throw mailErrors.notMoved();
    return { success: true, mailbox: to, id: moved };
  }
}

/** As in WildDuck 1.46, `draft` changes `flagged`: stored messages, whose From may be forged, must not become drafts. */
function flagsOf(request: UpdateRequest): FlagChange {
  const { seen, flagged, deleted, draft, metaData, expires } = request;
  const flags = [seen, flagged, deleted, draft].filter((flag) => flag !== undefined);
  if (flags.length === 0 && metaData === undefined && expires === undefined)
    throw mailErrors.messageUnchanged();
  return { ...changeOf(request), flagged: flagged ?? draft };
}

function flagsOfMove(request: UpdateRequest): FlagChange | null {
  const change = changeOf(request);
  return Object.values(change).every((value) => value === undefined) ? null : change;
}

const changeOf = ({ seen, flagged, deleted, metaData, expires }: UpdateRequest): FlagChange => ({
  seen,
  flagged,
  deleted,
  metaData,
  expires: expires === false ? null : expires,
});
