import { Controller, Injectable, type OnModuleInit, Query, type Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Audit } from '../../../../platform/audit/audit.js';
import { PermissionSource } from '../../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { ErrorKind, Errors } from '../../../../platform/http/errors.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import { Cursors } from '../../../../platform/paging/cursors.js';
import { ReferenceTitles } from '../../../../platform/references/reference-titles.js';
import { ChatApi } from '../../../chat/index.js';
import { ApprovalChanges } from '../changes/approval-changes.js';
import { GUEST_APPROVAL } from '../changes/guests.notifications.js';
import { GuestErrors } from '../guests.dto.js';
import { approvalReply } from '../guests.presenter.js';
import type { Guest } from '../guests.schema.js';
import { INVITE_TREES, type InviteTree, Scope, ScopeParam } from '../invite-scope.js';
import { type Decision, reviewDomain, reviewGuest } from '../model/guest-rules.js';
import { ApprovalEnvelope, ApprovalListEnvelope, ListApprovals, ReviewApproval } from './approvals.dto.js';
import { ApprovalsRepository, type ReviewRights } from './approvals.repository.js';

type ReviewCommand = Pick<Decision, 'admits' | 'reason' | 'remember'>;

type Decided = ErrorKind | 'unchanged' | 'changed';

/** Decisions about guests in the queue and about their domains. */
@Injectable()
export class ApprovalsService implements OnModuleInit {
  constructor(
    private readonly approvals: ApprovalsRepository,
    private readonly changes: ApprovalChanges,
    private readonly permissions: PermissionSource,
    private readonly chat: ChatApi,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly titles: ReferenceTitles,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.titles.register(GUEST_APPROVAL, async (reader, ctx, ids) =>
      this.approvals.titles(reader, ctx, await this.rights(ctx), ids),
    );
  }

  /** @param roomId null: guests of calls, and domains @throws ApiError 404 */
  async list(
    ctx: RequestContext,
    roomId: string | null,
    query: ListApprovals,
  ): Promise<JsonReply<ApprovalListEnvelope>> {
    if (roomId !== null && !(await this.chat.room(ctx, roomId))) throw GuestErrors.roomNotFound.with();
    const rights = await this.rights(ctx);
    const { rows, next } = await this.cursors.page(query, {
      scope: `approvals ${ctx.tenantId} ${ctx.userId} ${roomId ?? ''} ${query.call_id ?? ''} ${query.state}`,
      key: (row: { id: string; approval: string }): [string] => [row.id],
      rows: (after, limit) => this.approvals.list(ctx, rights, roomId, query, after?.[0], limit),
    });
    return JsonReply.listOf(
      'approvals',
      rows.map(({ approval }) => approval),
      { next },
    );
  }

  /** @throws ApiError 404, 409 `already_reviewed` */
  async review(
    ctx: RequestContext,
    roomId: string | null,
    id: string,
    body: Checked<ReviewApproval>,
  ): Promise<JsonReply<ApprovalEnvelope>> {
    const rights = await this.rights(ctx);
    if (!(await this.approvals.isVisible(ctx, rights, roomId, id))) throw GuestErrors.approvalNotFound.with();
    const { decision, ...given } = body.value;
    const command = { ...given, admits: decision === 'approve' };
    const approval = await this.db.tx(async (tx) => {
      const guest = await this.approvals.lockGuest(tx, ctx, rights, id);
      const decided = guest
        ? await this.decideGuest(tx, ctx, guest, command)
        : await this.decideDomain(tx, ctx, rights, id, command);
      const read = await this.approvals.read(tx, ctx, id);
      if (decided instanceof ErrorKind) throw decided.with({ body: { approval: JSON.parse(read) } });
      if (decided === 'unchanged') return read;
      const objectKind = guest ? 'guest' : 'guest_domain';
      const action = `calls.${objectKind}.${command.admits ? 'approved' : 'denied'}`;
      await this.audit.record(tx, ctx, { action, objectKind, objectId: id, data: { reason: given.reason } });
      if (guest) tx.afterCommit(() => this.changes.reportChange(ctx.tenantId, id));
      return read;
    });
    return approvalReply(approval);
  }

  private async decideGuest(
    tx: Tx,
    ctx: RequestContext,
    guest: Guest,
    command: ReviewCommand,
  ): Promise<Decided> {
    const { now, last_seq } = await this.approvals.moment(tx, ctx, guest.room_id);
    const change = reviewGuest(guest, { ...command, userId: ctx.userId, now }, last_seq);
    if (change === 'unchanged' || change instanceof ErrorKind) return change;
    await this.approvals.updateGuest(tx, guest, change);
    return 'changed';
  }

  /** @throws ApiError 404 */
  private async decideDomain(
    tx: Tx,
    ctx: RequestContext,
    rights: ReviewRights,
    id: string,
    { admits }: ReviewCommand,
  ): Promise<Decided> {
    const domain = rights.domains ? await this.approvals.lockDomain(tx, ctx, id) : null;
    if (!domain) throw GuestErrors.approvalNotFound.with();
    const { now } = await this.approvals.moment(tx, ctx, null);
    const change = reviewDomain(domain, { admits, userId: ctx.userId, now });
    if (change === 'unchanged' || change instanceof ErrorKind) return change;
    await this.approvals.updateDomain(tx, domain, change);
    return 'changed';
  }

  private async rights(ctx: RequestContext): Promise<ReviewRights> {
    const held = await this.permissions.permissionsOf(ctx);
    return { guests: held.has('guests.review'), domains: held.has('guest_domains.review') };
  }
}

/** Approvals of one tree of invites. It comes before the controller with `:invite_id`. */
function ApprovalsController(tree: InviteTree): Type {
  const { path, suffix } = INVITE_TREES[tree];
  const room = tree === 'call' ? [] : [GuestErrors.roomNotFound, Errors.invalidId];

  @ApiTags('guests')
  @Controller(`${path}/approvals`)
  class GuestApprovalsController {
    constructor(private readonly approvals: ApprovalsService) {}

    @ScopeParam(tree)
    @Endpoint('GET', {
      id: `listGuestApprovals${suffix}`,
      summary: 'List guests in the queue',
      description:
        'Guests of calls and rooms that you host or moderate; with the permission `guests.review`, all guests. With `guest_domains.review` also requested domains. Oldest first.',
      response: [ApprovalListEnvelope, 'A page of approvals.'],
      errors: room,
    })
    list(
      @Ctx() ctx: RequestContext,
      @Scope() scope: { roomId: string | null },
      @Query() query: ListApprovals,
    ) {
      return this.approvals.list(ctx, scope.roomId, query);
    }

    @ScopeParam(tree)
    @Endpoint('POST :approval_id/review', {
      id: `reviewGuestApproval${suffix}`,
      summary: 'Admit or deny a guest, allow or deny a domain',
      description: 'The first decision is final. A repeated request with the same decision changes nothing.',
      response: [ApprovalEnvelope, 'The decided approval.'],
      errors: [GuestErrors.approvalNotFound, GuestErrors.alreadyReviewed, ...room],
    })
    review(
      @Ctx() ctx: RequestContext,
      @Scope() scope: { roomId: string | null },
      @Id('approval_id') id: string,
      @CheckedBody(ReviewApproval) body: Checked<ReviewApproval>,
    ) {
      return this.approvals.review(ctx, scope.roomId, id, body);
    }
  }
  return GuestApprovalsController;
}

export const CallApprovalsController = ApprovalsController('call');
export const RoomApprovalsController = ApprovalsController('chat_room');
