import { normalizeAddress } from '../accounts/addresses.js';
import type { Address } from '../mime/message.js';
import type { MessageRow } from './messages.repository.js';

/** A reference to the message that a draft replies to or forwards. */
export interface Reference {
  mailbox: string;
  id: number;
  action: 'reply' | 'replyAll' | 'forward';
  /** True copies all attachments; a list copies those ids. */
  attachments?: boolean | string[];
}

/** The referenced message. */
export interface Origin {
  row: MessageRow;
  link: { mailbox: string; id: number; action: Reference['action'] };
}

/** The thread of a draft, for its next version. */
export interface Continued {
  inReplyTo: string | undefined;
  references: string[];
  link: { mailbox: string; id: number; action: string } | null;
}

/** Fields that a reply or forward takes from its origin. */
export interface Derived {
  to: Address[];
  cc: Address[];
  subject: string;
  inReplyTo: string;
  references: string[];
}

/** @param own address of the sender, excluded from the recipients */
export function derivedFrom({ row, link }: Origin, own: string): Derived {
  const { from, replyTo, to, cc, references } = row.summary;
  const back = replyTo.length > 0 ? replyTo : from ? [from] : [];
  const seen = new Set([normalizeAddress(own)]);
  const others = (list: readonly Address[]): Address[] =>
    list.filter(({ address }) => {
      const key = normalizeAddress(address);
      return !seen.has(key) && seen.add(key);
    });
  const forward = link.action === 'forward';
  const direct = forward ? [] : others(back);
  return {
    // A reply to a message of the sender goes to the recipients of that message.
    to: direct.length > 0 || forward ? direct : others(to),
    cc: link.action === 'replyAll' ? others([...to, ...cc]) : [],
    subject: subjectOf(row.subject, forward ? 'Fwd: ' : 'Re: ', forward ? /^fwd?:/i : /^re:/i),
    inReplyTo: row.message_id,
    references: [...references, row.message_id].slice(-100),
  };
}

function subjectOf(subject: string, prefix: string, has: RegExp): string {
  return has.test(subject.trim()) ? subject : prefix + subject;
}
