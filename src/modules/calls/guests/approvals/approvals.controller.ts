import { Controller, Query, type Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../../platform/http/input.pipe.js';
import { GuestErrors } from '../guests.errors.js';
import { INVITE_TREES, type InviteTree, Scope, ScopeParam } from '../invite-scope.js';
import { ListApprovals, ReviewApproval } from './approvals.dto.js';
import { ApprovalEnvelope, ApprovalListEnvelope } from './approvals.response.js';
import { ApprovalsService } from './approvals.service.js';

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
