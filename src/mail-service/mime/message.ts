import type { Bytes, FileBytes } from '../storage/bytes.js';

/** A person in a message. */
export interface Address {
  address: string;
  name: string;
}

/** An attachment as it is listed. */
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
  /** Belongs to the HTML text. */
  related: boolean;
  sizeKb: number;
  /** Bytes as it is encoded in the message. */
  size: number;
  /** SHA-256 of the content, base64. */
  fileContentHash: string;
}

/** What is known of a message beside its bytes. Texts hold nothing that PostgreSQL cannot store. */
export interface ParsedMessage {
  /** Null when it has none. */
  messageId: string | null;
  subject: string;
  /** RFC 3339; null when it has none, or no valid one. */
  date: string | null;
  from: Address | null;
  replyTo: Address[];
  to: Address[];
  cc: Address[];
  bcc: Address[];
  /** Message-IDs it refers to, the oldest first. */
  references: string[];
  contentType: { value: string; params?: Record<string, string> };
  text: string;
  /** As it was sent, but for links to its own images, which are `attachment:ATT00001`. */
  html: string | null;
  /** The beginning of the text, on one line. */
  intro: string | null;
  attachments: AttachmentInfo[];
  /** Header lines by name in lower case. */
  headers: Record<string, string[]>;
}

/** An attachment to be put into a message. */
export interface NewAttachment {
  filename?: string;
  contentType?: string;
  /** When it is long, the file with it, written as JSON does between its quotes. */
  content: string | FileBytes;
  /** Of `content`; any that Node's Buffer knows. */
  encoding: string;
  cid?: string;
  contentDisposition?: 'inline' | 'attachment';
}

/** A message to be built. */
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

/** Attachments to be taken over from another message. */
export interface TakenAttachments {
  raw: Bytes;
  ids: string[];
}
