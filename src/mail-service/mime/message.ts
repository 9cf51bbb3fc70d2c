import type { AttachmentStream } from 'mailparser';
import { isTnef, typeOf } from './embedded/tnef.js';
import type { Bytes, FileBytes } from '../storage/bytes.js';

/** The message of the error about the content of an attachment that is not base64. */
export const INVALID_BASE64 = 'The content is not base64';

/** A calendar of a message. */
export interface CalendarPart {
  /** The `method` of its Content-Type, upper case; null without one. */
  method: string | null;
  /** Base64, of all parts of the same kind and method; null for a message whose calendar is hidden in TNEF (`winmail.dat`). */
  content: string | null;
}

/** Longer calendars, in bytes, are no scheduling messages. */
const MAX_CALENDAR = 1_048_576;
const MAX_METHOD = 40;
/** Calendars of one mail; further ones are ignored. */
const MAX_PARTS = 20;
const LINE_END = Buffer.from('\r\n');

/** The order is that of preference: the part of RFC 6047, a calendar without method, a calendar file, TNEF. */
const RANKS = { method: 0, calendar: 1, file: 2, tnef: 3 };

/** Finds the scheduling messages among the parts of a mail (RFC 6047). A mail about several meetings has several parts. */
export class CalendarPartFinder {
  private best: { rank: number; method: string | null; contents: Buffer[] } | null = null;

  get found(): CalendarPart | null {
    if (!this.best) return null;
    const { method, contents } = this.best;
    return { method, content: contents.length === 0 ? null : Buffer.concat(contents).toString('base64') };
  }

  /** @returns a reader of this attachment's content, or undefined where it is not needed */
  readerOf(attachment: AttachmentStream): ((content: AsyncIterable<Buffer>) => Promise<void>) | undefined {
    const type = typeOf(attachment);
    if (isTnef(attachment)) {
      this.offer(RANKS.tnef, null, null);
      return undefined;
    }
    if (type !== 'text/calendar' && type !== 'application/ics') return undefined;
    const { params } = (attachment.headers.get('content-type') ?? {}) as { params?: Record<string, unknown> };
    const given = params?.['method'];
    const method = typeof given === 'string' ? given.slice(0, MAX_METHOD).toUpperCase() : null;
    const rank = type !== 'text/calendar' ? RANKS.file : method === null ? RANKS.calendar : RANKS.method;
    if (this.best && this.best.rank < rank) return undefined;
    return async (content) => {
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of content) {
        length += chunk.length;
        if (length <= MAX_CALENDAR) chunks.push(chunk);
      }
      if (length <= MAX_CALENDAR) this.offer(rank, method, Buffer.concat(chunks));
    };
  }

  private offer(rank: number, method: string | null, content: Buffer | null): void {
    if (!this.best || rank < this.best.rank) {
      this.best = { rank, method, contents: content ? [content] : [] };
      return;
    }
    const { contents } = this.best;
    const isFurther = rank === this.best.rank && method === this.best.method && content !== null;
    // Many programs attach the calendar of the text again.
    if (!isFurther || contents.some((other) => other.equals(content))) return;
    const length = contents.reduce((sum, other) => sum + other.length, content.length + LINE_END.length);
    if (contents.length < 2 * MAX_PARTS && length <= MAX_CALENDAR) contents.push(LINE_END, content);
  }
}

/** A mailbox address of a message. */
export interface Address {
  address: string;
  name: string;
}

/** An attachment in responses. */
export interface AttachmentInfo {
  /** `ATT00001` and so on, in the order of the parts. */
  id: string;
  /** SHA-256 of the content, hex. */
  hash: string;
  filename: string;
  contentType: string;
  disposition: 'inline' | 'attachment';
  transferEncoding: string;
  /** It has its angle brackets. */
  cid: string | null;
  /** Used by the HTML text. */
  related: boolean;
  sizeKb: number;
  /** Encoded size, bytes. */
  size: number;
  /** Size of the content, bytes. Missing for messages of earlier versions. */
  decodedSize?: number;
  /** SHA-256 of the content, base64. */
  fileContentHash: string;
}

/** The parsed parts of a message. Texts are storable in PostgreSQL. */
export interface ParsedMessage {
  /** Null for a message without one. */
  messageId: string | null;
  subject: string;
  /** RFC 3339; null when missing or invalid. */
  date: string | null;
  from: Address | null;
  replyTo: Address[];
  to: Address[];
  cc: Address[];
  bcc: Address[];
  /** Referenced Message-IDs, oldest first. */
  references: string[];
  contentType: { value: string; params?: Record<string, string> };
  text: string;
  /** Not sanitised; links to attached images are `attachment:ATT00001`. */
  html: string | null;
  /** The beginning of the text in one line. */
  intro: string | null;
  attachments: AttachmentInfo[];
  /** Header values by lower-case name. */
  headers: Record<string, string[]>;
  /** The scheduling message that the mail carries. `sender`: the address of From; empty unless there is exactly one. */
  calendar: (CalendarPart & { sender: string }) | null;
}

/** An attachment of a message to build. */
export interface NewAttachment {
  filename?: string;
  contentType?: string;
  /** Encoded text; a long one is a file of JSON text between the quotes. */
  content: string | FileBytes;
  /** A Buffer encoding. */
  encoding: string;
  cid?: string;
  contentDisposition?: 'inline' | 'attachment';
}

/** A message to build. */
export interface NewMessage {
  from: Address;
  replyTo?: Address;
  to: Address[];
  cc: Address[];
  bcc: Address[];
  subject: string;
  text?: string;
  html?: string;
  date?: Date;
  attachments: NewAttachment[];
  inReplyTo?: string;
  references: string[];
  headers: { key: string; value: string }[];
}

/** Attachments to copy from another message. */
export interface CopiedAttachments {
  raw: Bytes;
  ids: string[];
  /** As `hasStatus` of the message. */
  withStatus: boolean;
}
