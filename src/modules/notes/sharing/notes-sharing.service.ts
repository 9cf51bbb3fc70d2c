import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import type { ApiError } from '../../../platform/http/api-error.js';
import { detailsAt, fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import type { ShareLinks } from '../../../platform/resources/share-link.controller.js';
import { TenantErrors, TenantPolicies, TenantsApi } from '../../tenants/index.js';
import { written } from '../note-outcome.js';
import { noteReply } from '../note.presenter.js';
import { NoteErrors } from '../notes.errors.js';
import type { NoteOutcome } from '../notes.repository.js';
import type { InviteToNote, ShareNote } from './notes-sharing.dto.js';
import { NotesSharingRepository, type ShareAction, type SharedRole } from './notes-sharing.repository.js';

/** 192 random bits. */
const newToken = (): string => randomBytes(24).toString('base64url');

/** The share link and the invited members of a note. Only the owner changes them; an invited member may leave. */
@Injectable()
export class NotesSharingService implements ShareLinks<ShareNote> {
  constructor(
    private readonly sharing: NotesSharingRepository,
    private readonly tenants: TenantsApi,
    private readonly policies: TenantPolicies,
    private readonly writes: IdempotentWrites,
    private readonly outbox: Outbox,
  ) {}

  async share(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<ShareNote>,
  ): Promise<JsonReply> {
    const action: ShareAction = body.error
      ? { kind: 'invalid_request' }
      : {
          kind: 'set',
          token: newToken(),
          terms: { role: body.value.role, expires_at: body.value.expires_at ?? null },
        };
    return this.writeLink(ctx, key, (tx) => this.apply(tx, ctx, id, action, body.error));
  }

  /** Replaces the token; role and expiry stay. @throws ApiError 404 `not_shared` */
  async regenerate(ctx: RequestContext, id: string, key: IdempotencyKey | null): Promise<JsonReply> {
    return this.writeLink(ctx, key, (tx) =>
      this.apply(tx, ctx, id, { kind: 'regenerate', token: newToken() }),
    );
  }

  /** @throws ApiError 403 `restricted_by_policy`, after the errors of the write, which is then undone */
  private async writeLink(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    write: (tx: Tx) => Promise<JsonReply>,
  ): Promise<JsonReply> {
    if (await this.policies.mayShareLinks(ctx)) return this.writes.run(ctx, key, write);
    return this.writes.runTx(ctx, key, async (tx) => {
      await write(tx);
      throw TenantErrors.restrictedByPolicy.with();
    });
  }

  async revoke(ctx: RequestContext, id: string, key: IdempotencyKey | null): Promise<JsonReply> {
    return this.writes.run(ctx, key, (tx) => this.apply(tx, ctx, id, { kind: 'revoke' }));
  }

  /**
   * Replaces the whole list of invited members at once.
   * @throws ApiError 403 unless the caller is the owner, or an invited member that only leaves; 422 `unknown_user`
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
      if (result.outcome === 'unknown_user')
        throw inactive(JSON.parse(result.json ?? '[]') as string[], invited);
      return this.reply(tx, id, result, error);
    });
  }

  private async apply(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    action: ShareAction,
    invalid?: ApiError,
  ): Promise<JsonReply> {
    return this.reply(tx, id, await this.sharing.share(tx, ctx, uuidv7(), id, action), invalid);
  }

  private reply(tx: Tx, id: string, result: NoteOutcome, invalid?: ApiError): JsonReply {
    this.outbox.notice(tx);
    return noteReply(id, result.revision ?? 0, written(result, id, invalid));
  }

  /** Ids and addresses to members of the workspace. A user listed twice counts once, with the last role. */
  private async resolve(
    ctx: RequestContext,
    body: Checked<InviteToNote>,
  ): Promise<{ invited: Map<string, SharedRole> | null; error?: ApiError }> {
    if (body.error) return { invited: null, error: body.error };
    const named = body.value.invited.map(({ user_id, id, email, role }) => ({
      name: user_id ?? id ?? email ?? '',
      role,
    }));
    const empty = named.findIndex(({ name }) => name === '');
    if (empty >= 0) {
      const field = `invited.${empty}`;
      return {
        invited: null,
        error: fieldError(field, 'is_not_empty', `${field} needs user_id, id or email`),
      };
    }
    const members = await this.tenants.findMembers(
      ctx.tenantId,
      named.map(({ name }) => name),
    );
    const unknown = named.flatMap(({ name }, n) => (members.has(name) ? [] : [n]));
    if (unknown.length > 0) {
      return { invited: null, error: unknownUsers(unknown, 'is not a member of this workspace') };
    }
    return { invited: new Map(named.map(({ name, role }) => [members.get(name) as string, role])) };
  }
}

/** 422 `unknown_user` for these positions of the list. */
function unknownUsers(positions: readonly number[], reason: string): ApiError {
  return NoteErrors.unknownUser.with({ details: detailsAt('invited', positions, 'unknown_user', reason) });
}

function inactive(ids: readonly string[], invited: ReadonlyMap<string, SharedRole> | null): ApiError {
  const order = [...(invited?.keys() ?? [])];
  return unknownUsers(
    ids.map((id) => order.indexOf(id)),
    'is deactivated',
  );
}
