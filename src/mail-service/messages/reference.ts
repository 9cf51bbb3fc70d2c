import { normalizeAddress } from '../accounts/addresses.js';
import type { Address } from '../mime/message.js';
import type { MessageRow } from './messages.repository.js';

/** The message a draft answers or forwards. */
export interface Reference {
  mailbox: string;
  id: number;
  action: 'reply' | 'replyAll' | 'forward';
  /** All that are not images of its HTML, or those named. */
  attachments?: boolean | string[];
}

/** The same, found. */
export interface Origin {
  row: MessageRow;
  link: { mailbox: string; id: number; action: Reference['action'] };
}

/** What an answer takes over from what it answers. */
export interface Answer {
  to: Address[];
  cc: Address[];
  subject: string;
  inReplyTo: string;
  references: string[];
}

/** @param own the address of who answers, who does not write to themselves */
export function answerTo({ row, link }: Origin, own: string): Answer {
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
    // An answer to one's own message goes to whom that went.
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
