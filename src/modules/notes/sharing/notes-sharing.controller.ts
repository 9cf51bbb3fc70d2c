import { randomBytes } from 'node:crypto';
import { Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  Idempotency,
  type IdempotencyKey,
  IdempotentWrites,
} from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { type ApiError, Errors, fieldError } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { ShareLinkController, type ShareLinks } from '../../../platform/resources/share-link.controller.js';
import { TenantErrors, TenantPolicies, TenantsApi } from '../../tenants/index.js';
import { NoteWrites } from '../changes/note-writes.js';
import {
  inviteToNote,
  type ShareAction,
  type SharedRole,
  shareNote,
  unknownUsers,
} from '../model/sharing-rules.js';
import { noteReply } from '../note.presenter.js';
import { NoteEnvelope, NoteErrors } from '../notes.dto.js';
import { InviteToNote, ShareNote } from './notes-sharing.dto.js';

/** 192 random bits. */
const newToken = (): string => randomBytes(24).toString('base64url');

/** The share link and the invited members of a note. Only the owner changes them; an invited member may leave. */
@Injectable()
export class NotesSharingService implements ShareLinks<ShareNote, NoteEnvelope> {
  constructor(
    private readonly notes: NoteWrites,
    private readonly tenants: TenantsApi,
    private readonly policies: TenantPolicies,
    private readonly writes: IdempotentWrites,
  ) {}

  async share(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<ShareNote>,
  ): Promise<JsonReply<NoteEnvelope>> {
    const action: ShareAction | null = body.error
      ? null
      : {
          kind: 'set',
          token: newToken(),
          role: body.value.role,
          expiresAt: body.value.expires_at ?? null,
        };
    return this.writeLink(ctx, key, (tx) => this.apply(tx, ctx, id, action, body.error));
  }

  /** Replaces the token; role and expiry stay. @throws ApiError 404 `not_shared` */
  async regenerate(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
  ): Promise<JsonReply<NoteEnvelope>> {
    return this.writeLink(ctx, key, (tx) =>
      this.apply(tx, ctx, id, { kind: 'regenerate', token: newToken() }),
    );
  }

  /** @throws ApiError 403 `restricted_by_policy`, after the errors of the write, which is then undone */
  private async writeLink(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    write: (tx: Tx) => Promise<JsonReply<NoteEnvelope>>,
  ): Promise<JsonReply<NoteEnvelope>> {
    const isAllowed = await this.policies.mayShareLinks(ctx);
    return this.writes.runTx(ctx, key, async (tx) => {
      const reply = await write(tx);
      if (!isAllowed) throw TenantErrors.restrictedByPolicy.with();
      return reply;
    });
  }

  async revoke(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
  ): Promise<JsonReply<NoteEnvelope>> {
    return this.writes.runTx(ctx, key, (tx) => this.apply(tx, ctx, id, { kind: 'revoke' }));
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
  ): Promise<JsonReply<NoteEnvelope>> {
    const { invited, error } = await this.resolve(ctx, body);
    return this.writes.runTx(ctx, key, async (tx) => {
      const { userId, tenantId } = ctx;
      const { revision, note } = await this.notes.write(tx, ctx, id, async (found) => {
        const users = [...(invited?.keys() ?? [])];
        const inactive =
          found && users.length > 0
            ? await this.tenants.inactiveMembers(tx, tenantId, users, found.member_ids)
            : [];
        return inviteToNote(found, { userId, error, invited }, inactive);
      });
      return noteReply(id, revision, note);
    });
  }

  private async apply(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    action: ShareAction | null,
    error?: ApiError,
  ): Promise<JsonReply<NoteEnvelope>> {
    const { userId } = ctx;
    const { revision, note } = await this.notes.write(tx, ctx, id, (found) =>
      shareNote(found, { userId, error, action }),
    );
    return noteReply(id, revision, note);
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

const SHARING_ERRORS = [NoteErrors.notFound, Errors.forbidden, NoteErrors.deleted];

@ApiTags('notes')
@Controller('notes/:id')
export class NotesSharingController extends ShareLinkController(NotesSharingService, {
  name: 'note',
  terms: ShareNote,
  envelope: NoteEnvelope,
  etag: 'note',
  descriptions: {
    share:
      'The link (`share_token`) opens the note to signed-in members of the workspace. An existing link gets the new role and expiry; its token stays. Only for the owner.',
    revoke: 'A note without a link is returned unchanged.',
  },
  errors: {
    share: [...SHARING_ERRORS, TenantErrors.restrictedByPolicy],
    regenerate: [...SHARING_ERRORS, NoteErrors.notShared, TenantErrors.restrictedByPolicy],
    revoke: SHARING_ERRORS,
  },
}) {
  constructor(private readonly sharing: NotesSharingService) {
    super(sharing);
  }

  @Endpoint('PUT invited', {
    id: 'inviteToNote',
    summary: 'Set the invited members',
    description:
      'Replaces the whole list. Added members can read the note; missing members lose access. Only for the owner; an invited member leaves by sending the list without their own entry. Only active members can be added.',
    response: [NoteEnvelope, 'The note with its list; for a member that leaves, the note before that.'],
    etag: 'note',
    errors: [...SHARING_ERRORS, NoteErrors.unknownUser],
  })
  invite(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(InviteToNote) body: Checked<InviteToNote>,
  ) {
    return this.sharing.invite(ctx, id, key, body);
  }
}
