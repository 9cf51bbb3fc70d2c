import { Injectable, Logger } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { type BulkChange, bulkChange, mergedAnswer, messageStrings, movedBy } from './dialect/bulk.js';
import { type Fields, isFields } from './fields.js';
import { JsonReply } from '../../platform/http/json-reply.js';
import type { MailCall } from './mail-call.js';
import { MailClient, type MailReply, type MailSession, passedOn } from './mail-client.js';
import { MailMovesRepository } from './mail-moves.repository.js';
import { mailboxPath, messagesPath } from './mail-paths.js';
import type { JsonAnswer } from './upstream/mail-answer.js';

/** Changes of many messages at once, and the way back of those that were moved. */
@Injectable()
export class MailMoves {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly client: MailClient,
    private readonly moves: MailMovesRepository,
  ) {}

  /**
   * Marks, moves or restores messages. What one call of the mail service cannot take goes in several; the answer is then
   * the sum of theirs, or the first refusal, with what was done before it done.
   *
   * @throws ApiError 422 `validation_failed`
   */
  update(call: MailCall, body: Fields): Promise<MailReply> {
    const change = bulkChange(body);
    return this.client.as(call, async (session) => {
      const { ids, fields } = change;
      const work = new BulkWork(session, messagesPath(call.target.mailbox));
      // The mail service says itself what it misses.
      if (ids === null) await work.put({ ...fields, ...(Object.hasOwn(body, 'message') && { message: '' }) });
      for (const step of ids === null ? [] : await this.steps(call, work, { ...change, ids })) {
        const answer = await work.put(step);
        await this.note(call.ctx, call.target.mailbox, answer.value, change.restore);
        if (work.refusal) break;
      }
      return work.reply();
    });
  }

  /**
   * Notes where messages came from, if the answer tells of a move. Its failure is logged: the move has happened.
   * @param isReturn they are back where they came from
   */
  async note(ctx: RequestContext, from: string, answer: unknown, isReturn = false): Promise<void> {
    const moved = movedBy(answer);
    if (moved === null || moved.pairs.length === 0) return;
    const { mailbox, pairs } = moved;
    try {
      if (isReturn || mailbox === from) {
        await this.moves.forget(
          ctx,
          from,
          pairs.map(([old]) => old),
        );
      } else await this.moves.record(ctx, from, mailbox, pairs);
    } catch (error) {
      this.logger.error({ err: error }, 'a move could not be noted');
    }
  }

  /** The calls it takes. */
  private async steps(
    call: MailCall,
    work: BulkWork,
    { ids, fields, restore }: BulkChange & { ids: number[] },
  ): Promise<Fields[]> {
    if (!restore) return messageStrings(ids).map((message) => ({ ...fields, message }));
    const targets = await this.targets(call, work, ids);
    return [...targets].flatMap(([moveTo, group]) =>
      messageStrings(group).map((message) => ({ ...fields, message, moveTo })),
    );
  }

  /** Where each message goes back to: where it was moved from, or the inbox if that is not known or not there any more. */
  private async targets(call: MailCall, work: BulkWork, ids: number[]): Promise<Map<string, number[]>> {
    const here = call.target.mailbox;
    const origins = await this.moves.origins(call.ctx, here, ids);
    const targets = new Map<string, number[]>();
    for (const [origin, group] of Map.groupBy(ids, (id) => origins.get(id))) {
      const target = origin !== undefined && (await work.exists(origin)) ? origin : await work.inbox();
      if (target === null) return new Map();
      targets.set(target, [...(targets.get(target) ?? []), ...group]);
    }
    // What lies where it belongs stays: moving it there would only give it another id.
    targets.delete(here);
    return targets;
  }
}

/** The calls that one change of many messages takes, and what came of them. */
class BulkWork {
  private readonly done: JsonAnswer[] = [];
  private missed: JsonAnswer | null = null;
  /** The first answer that was neither a success nor "no such message". */
  refusal: JsonAnswer | null = null;

  constructor(
    private readonly session: MailSession,
    private readonly path: readonly (string | number)[],
  ) {}

  async put(body: Fields): Promise<JsonAnswer> {
    const answer = await this.session.json({ method: 'PUT', path: this.path, body });
    if (answer.status < 300 && isFields(answer.value)) this.done.push(answer);
    else if (answer.status === 404 && isFields(answer.value) && answer.value['code'] === 'MessageNotFound')
      this.missed ??= answer;
    else this.refusal ??= answer;
    return answer;
  }

  async exists(mailbox: string): Promise<boolean> {
    return (await this.session.json({ method: 'GET', path: mailboxPath(mailbox) })).status < 300;
  }

  /** @returns null when there is none; the refusal then says why */
  async inbox(): Promise<string | null> {
    const query = new URLSearchParams({ path: 'INBOX' });
    const answer = await this.session.json({ method: 'GET', path: mailboxPath('resolve'), query });
    const id = isFields(answer.value) ? answer.value['id'] : undefined;
    if (answer.status < 300 && typeof id === 'string' && /^[0-9a-f]{24}$/i.test(id)) return id.toLowerCase();
    this.refusal ??= answer;
    return null;
  }

  reply(): MailReply {
    const [first, ...others] = this.done;
    const other = this.refusal ?? (first === undefined ? this.missed : null);
    if (other !== null) return passedOn(other);
    if (first !== undefined && others.length === 0) return passedOn(first);
    return new JsonReply(JSON.stringify(mergedAnswer(this.done.map(({ value }) => value as Fields))));
  }
}
