import { Injectable } from '@nestjs/common';
import { MailErrors } from './mail.errors.js';

/** Mail requests of one person, and of everybody, that a process works on at once. */
export const MAX_PER_PERSON = 16;
export const MAX_AT_ALL = 256;

const RETRY_AFTER = { headers: { 'Retry-After': '1' } };

/**
 * Bounds what a slow mail service can pile up here: sockets and memory. Nobody waits in line; requests beyond the bounds
 * are turned away at once, so that everything but mail goes on as ever.
 */
@Injectable()
export class MailLoad {
  private readonly perPerson = new Map<string, number>();
  private all = 0;

  /**
   * @param person who asks
   * @returns ends the request; calling it again changes nothing
   * @throws ApiError 429 `too_many_mail_requests`, 503 `mail_service_busy`
   */
  enter(person: string): () => void {
    const theirs = this.perPerson.get(person) ?? 0;
    if (theirs >= MAX_PER_PERSON) throw MailErrors.tooManyRequests.with(RETRY_AFTER);
    if (this.all >= MAX_AT_ALL) throw MailErrors.busy.with(RETRY_AFTER);
    this.perPerson.set(person, theirs + 1);
    this.all += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.all -= 1;
      const left = (this.perPerson.get(person) ?? 1) - 1;
      if (left > 0) this.perPerson.set(person, left);
      else this.perPerson.delete(person);
    };
  }
}
