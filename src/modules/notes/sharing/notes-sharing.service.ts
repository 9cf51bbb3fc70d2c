import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import type { ApiError } from '../../../platform/http/api-error.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { TenantsApi } from '../../tenants/index.js';
import { fieldError, written } from '../note-outcome.js';
import { noteReply } from '../note.presenter.js';
import { NoteErrors } from '../notes.errors.js';
import type { NoteOutcome } from '../notes.repository.js';
import type { InviteToNote, ShareNote } from './notes-sharing.dto.js';
import { NotesSharingRepository, type ShareAction, type SharedRole } from './notes-sharing.repository.js';

/** 192 bits: not to be guessed. */
const newToken = (): string => randomBytes(24).toString('base64url');

/** Who else may see a note: the share link and the invited people. Only the owner decides; anybody may leave. */
@Injectable()
export class NotesSharingService {
  constructor(
    private readonly sharing: NotesSharingRepository,
    private readonly tenants: TenantsApi,
    private readonly writes: IdempotentWrites,
    private readonly outbox: Outbox,
  ) {}

  /** Makes the share link, or changes what the one there is allows; its token stays. */
  async share(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<ShareNote>,
  ): Promise<JsonReply> {
    const action: ShareAction = body.error
      ? { kind: 'unchecked' }
      : { kind: 'set', token: newToken(), role: body.value.role, expiresAt: body.value.expires_at ?? null };
    return this.writes.run(ctx, key, (tx) => this.apply(tx, ctx, id, action, body.error));
  }

  /** Replaces the token; role and expiry stay. @throws ApiError 404 `not_shared` */
  async regenerate(ctx: RequestContext, id: string, key: IdempotencyKey | null): Promise<JsonReply> {
    return this.writes.run(ctx, key, (tx) =>
      this.apply(tx, ctx, id, { kind: 'regenerate', token: newToken() }),
    );
  }

  /** Ends the share link, if there is one. */
  async revoke(ctx: RequestContext, id: string, key: IdempotencyKey | null): Promise<JsonReply> {
    return this.writes.run(ctx, key, (tx) => this.apply(tx, ctx, id, { kind: 'revoke' }));
  }

  /**
   * Replaces the whole list of invited people at once.
   * @throws ApiError 403 unless the owner calls, or somebody invited who only leaves; 422 `unknown_user`
   */
  async invite(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<InviteToNote>,
  ): Promise<JsonReply> {
    const { invited, error } = await this.resolve(ctx, body);
    return this.writes.run(ctx, key, async (tx) => {
      const result = await this.sharing.invite(tx, ctx, uuidv7(), id, invited);
      return this.answer(tx, id, result, error);
    });
  }

  private async apply(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    action: ShareAction,
    wrong?: ApiError,
  ): Promise<JsonReply> {
    return this.answer(tx, id, await this.sharing.share(tx, ctx, uuidv7(), id, action), wrong);
  }

  private answer(tx: Tx, id: string, result: NoteOutcome, wrong?: ApiError): JsonReply {
    this.outbox.notice(tx);
    return noteReply(id, result.revision ?? 0, written(result, id, wrong));
  }

  /** Ids and addresses to members of the workspace; who is named twice counts once, with the last role. */
  private async resolve(
    ctx: RequestContext,
    body: Checked<InviteToNote>,
  ): Promise<{ invited: Map<string, SharedRole> | null; error?: ApiError }> {
    if (body.error) return { invited: null, error: body.error };
    const named = body.value.invited.map(({ user_id, id, email, role }) => ({
      who: user_id ?? id ?? email ?? '',
      role,
    }));
    const empty = named.findIndex(({ who }) => who === '');
    if (empty >= 0) {
      const field = `invited.${empty}`;
      return {
        invited: null,
        error: fieldError(field, 'is_not_empty', `${field} names nobody: give user_id, id or email`),
      };
    }
    const members = await this.tenants.findMembers(
      ctx.tenantId,
      named.map(({ who }) => who),
    );
    const unknown = named.flatMap(({ who }, n) => (members.has(who) ? [] : [n]));
    if (unknown.length > 0) {
      const details = unknown.map((n) => ({
        field: `invited.${n}`,
        code: 'unknown_user',
        message: `invited.${n} is not a member of this workspace`,
      }));
      return { invited: null, error: NoteErrors.unknownUser.with({ details }) };
    }
    return { invited: new Map(named.map(({ who, role }) => [members.get(who) as string, role])) };
  }
}
