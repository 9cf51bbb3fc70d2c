import { Injectable, Logger } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { inParallel } from '../../../platform/jobs/claim-loop.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import { type Fields, isFields, isObjectId } from '../input/fields.js';
import { mailboxPath, type MailCall, messagesPath } from '../mail-call.js';
import { forwardReply, MailClient, type MailReply, type MailSession } from '../mail-client.js';
import { isUnknownField, JsonResponse } from '../upstream-response.js';
import {
  type BulkChange,
  bulkChange,
  mergedResponse,
  messageStrings,
  type MovedPairs,
  movesOf,
  splitFlags,
} from './bulk.js';
import type { MailMove } from '../mail.schema.js';

// A message that returns to its original mailbox loses its record. A move within a mailbox keeps the origin.
const record = workspace.statement<never>(
  'mail.moves_record',
  `WITH moved AS (SELECT * FROM unnest($4::bigint[], $6::bigint[]) AS pair (old_id, new_id)),
        before AS (
     DELETE FROM mail_moves WHERE tenant_id = $1 AND user_id = $2 AND mailbox = $3 AND message_id = ANY ($4::bigint[])
     RETURNING message_id, origin)
   INSERT INTO mail_moves (tenant_id, user_id, mailbox, message_id, origin)
   SELECT $1, $2, $5, moved.new_id, CASE WHEN $5 = $3 THEN before.origin ELSE $3 END
     FROM moved LEFT JOIN before ON before.message_id = moved.old_id
    WHERE before.origin <> $5 OR (before.origin IS NULL AND $5 <> $3)
    ORDER BY moved.new_id
   ON CONFLICT (tenant_id, user_id, mailbox, message_id) DO UPDATE SET origin = excluded.origin, moved_at = now()`,
);

const remove = workspace.statement<never>(
  'mail.moves_delete',
  `DELETE FROM mail_moves WHERE tenant_id = $1 AND user_id = $2 AND mailbox = $3 AND message_id = ANY ($4::bigint[])`,
);

const origins = workspace.statement<Pick<MailMove, 'message_id' | 'origin'>>(
  'mail.moves_origins',
  `SELECT message_id, origin FROM mail_moves
    WHERE tenant_id = $1 AND user_id = $2 AND mailbox = $3 AND message_id = ANY ($4::bigint[])`,
);

/** Longer than the default retention of a trash mailbox (30 days). */
export const purgeMoves: Sweep = workspace.statement(
  'mail.moves_purge',
  deletion('mail_moves', `moved_at < now() - interval '180 days'`),
  { reach: 'cell' },
);

/** SQL of the origins of moved messages. */
@Injectable()
export class MailMovesRepository {
  constructor(private readonly db: Db) {}

  /** Records a move. */
  async record(ctx: RequestContext, from: string, to: string, pairs: MovedPairs): Promise<void> {
    const [before, after] = [pairs.map(([old]) => old), pairs.map(([, id]) => id)];
    await this.db.single((tx) => tx.query(record, [ctx.tenantId, ctx.userId, from, before, to, after]));
  }

  async delete(ctx: RequestContext, mailbox: string, ids: number[]): Promise<void> {
    await this.db.single((tx) => tx.query(remove, [ctx.tenantId, ctx.userId, mailbox, ids]));
  }

  /** @returns the known original mailboxes by message id */
  async origins(ctx: RequestContext, mailbox: string, ids: number[]): Promise<Map<number, string>> {
    const rows = await this.db.query(origins, [ctx.tenantId, ctx.userId, mailbox, ids]);
    return new Map(rows.map((row) => [Number(row.message_id), row.origin]));
  }
}

const CONCURRENT_DELETES = 4;

const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0;

/** Bulk changes of messages, and the record of moves that `restoreToOrigin` needs. */
@Injectable()
export class MailMoves {
  private readonly logger = new Logger('Mail');
  /** Set by the first rejection: WildDuck has no bulk delete. */
  private deletesOneByOne = false;

  constructor(
    private readonly client: MailClient,
    private readonly moves: MailMovesRepository,
  ) {}

  /**
   * Marks, moves, restores or deletes messages, in several requests when one cannot take them all.
   * @returns the merged responses, or the first error; changes made before an error remain
   * @throws ApiError 422 `validation_failed`
   */
  update(call: MailCall, body: Fields): Promise<MailReply> {
    const change = bulkChange(body);
    return this.client.runAs(call, async (session) => {
      const { ids, fields } = change;
      const requests = new BulkRequests(session, messagesPath(call.target.mailbox));
      if (ids === null)
        await requests.put({ ...fields, ...(Object.hasOwn(body, 'message') && { message: '' }) });
      if (change.delete && ids !== null) {
        await this.delete(requests, ids);
        return requests.reply();
      }
      for (const step of ids === null ? [] : await this.steps(call, requests, { ...change, ids })) {
        const response = await requests.put(step);
        await this.record(call.ctx, call.target.mailbox, response.value, change.restore);
        if (requests.error) break;
      }
      return requests.reply();
    });
  }

  /**
   * Records the origin of messages when the response reports a move. Only logs its own failure: the move has happened.
   * @param isReturn the messages are back in their original mailbox
   */
  async record(ctx: RequestContext, from: string, response: unknown, isReturn = false): Promise<void> {
    const moved = movesOf(response);
    if (moved === null || moved.pairs.length === 0) return;
    const { mailbox, pairs } = moved;
    const oldIds = pairs.map(([old]) => old);
    try {
      if (isReturn) await this.moves.delete(ctx, from, oldIds);
      else await this.moves.record(ctx, from, mailbox, pairs);
    } catch (error) {
      this.logger.error({ err: error }, 'a move could not be recorded');
    }
  }

  /** Deletes one by one at a mail service without the bulk change `delete`. */
  private async delete(requests: BulkRequests, ids: number[]): Promise<void> {
    for (const message of messageStrings(ids)) {
      if (this.deletesOneByOne) break;
      const response = await requests.send({ delete: true, message });
      if (isUnknownField(response, 'delete')) this.deletesOneByOne = true;
      else if (!requests.add(response)) return;
    }
    if (this.deletesOneByOne) await requests.deleteEach(ids);
  }

  private async steps(
    call: MailCall,
    requests: BulkRequests,
    { ids, fields, restore }: BulkChange & { ids: number[] },
  ): Promise<Fields[]> {
    if (!restore) return messageStrings(ids).map((message) => ({ ...fields, message }));
    const targets = await this.targets(call, requests, ids);
    return [...targets].flatMap(([moveTo, group]) => {
      // A move within the same mailbox would only change the id.
      const changes = moveTo === call.target.mailbox ? fields : { ...fields, moveTo };
      return isEmpty(changes) ? [] : messageStrings(group).map((message) => ({ ...changes, message }));
    });
  }

  /** Groups messages by the mailbox to restore them to. Empty after a failed request. */
  private async targets(
    call: MailCall,
    requests: BulkRequests,
    ids: number[],
  ): Promise<Map<string, number[]>> {
    const here = call.target.mailbox;
    const origins = await this.moves.origins(call.ctx, here, ids);
    const targets = new Map<string, number[]>();
    for (const [origin, group] of Map.groupBy(ids, (id) => origins.get(id))) {
      const target = await requests.restoreTarget(origin);
      if (target === null) return new Map();
      targets.set(target, [...(targets.get(target) ?? []), ...group]);
    }
    return targets;
  }
}

/** The requests of one bulk change and their responses. */
class BulkRequests {
  private readonly done: JsonResponse[] = [];
  private notFound: JsonResponse | null = null;
  /** The first response that is neither a success nor `MessageNotFound`. */
  error: JsonResponse | null = null;

  constructor(
    private readonly session: MailSession,
    private readonly path: readonly (string | number)[],
  ) {}

  /** Sends a change, in two updates where one cannot take it. @returns the last response */
  async put({ message, ...fields }: Fields): Promise<JsonResponse> {
    const [first = {}, second] = splitFlags(fields);
    const named = message === undefined ? {} : { message };
    let response = await this.send({ ...first, ...named });
    if (second && response.status < 300) response = await this.send({ ...second, ...named });
    this.add(response);
    return response;
  }

  send(body: Fields): Promise<JsonResponse> {
    return this.session.json({ method: 'PUT', path: this.path, body });
  }

  /** @returns false for an error other than `MessageNotFound` */
  add(response: JsonResponse): boolean {
    const { status, value, code } = response;
    if (status < 300 && isFields(value)) this.done.push(response);
    else if (status === 404 && (code === 'MessageNotFound' || code === undefined)) this.notFound ??= response;
    else this.error ??= response;
    return this.error === null;
  }

  /** Deletes single messages, several at a time. */
  async deleteEach(ids: readonly number[]): Promise<void> {
    let deleted = 0;
    await inParallel(ids, CONCURRENT_DELETES, async (id) => {
      if (this.error !== null) return;
      const response = await this.session.json({ method: 'DELETE', path: [...this.path, id] });
      if (response.status < 300) deleted += 1;
      else this.add(response);
    });
    if (deleted > 0) {
      const value = { success: true, deleted };
      this.done.push(new JsonResponse(200, JSON.stringify(value), value));
    }
  }

  /**
   * The mailbox to restore messages to: the original one, or the inbox when that is unknown or deleted.
   * @returns null when a request fails; `error` is then the response
   */
  async restoreTarget(origin: string | undefined): Promise<string | null> {
    if (origin === undefined) return this.inbox();
    const response = await this.session.json({ method: 'GET', path: mailboxPath(origin) });
    if (response.status < 300) return origin;
    if (response.status === 404) return this.inbox();
    this.error ??= response;
    return null;
  }

  private async inbox(): Promise<string | null> {
    const query = new URLSearchParams({ path: 'INBOX' });
    const response = await this.session.json({ method: 'GET', path: mailboxPath('resolve'), query });
    const id = isFields(response.value) ? response.value['id'] : undefined;
    if (response.status < 300 && isObjectId(id)) return id.toLowerCase();
    this.error ??= response;
    return null;
  }

  reply(): MailReply {
    const [first, ...others] = this.done;
    const error = this.error ?? (first === undefined ? this.notFound : null);
    if (error !== null) return forwardReply(error);
    if (first !== undefined && others.length === 0) return forwardReply(first);
    return JsonReply.of(mergedResponse(this.done.map(({ value }) => value as Fields)));
  }
}
