import type { Bytes, FileBytes } from '../storage/bytes.js';
import type { CalendarPart } from './calendar-part.js';

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
  /** With its angle brackets. */
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
}
