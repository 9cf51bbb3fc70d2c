import { GuestAccessController } from './access/access.controller.js';
import { GuestAccessService } from './access/access.service.js';
import { ApprovalChanges } from './changes/approval-changes.js';
import {
  ApprovalsService,
  CallApprovalsController,
  RoomApprovalsController,
} from './approvals/approvals.controller.js';
import { ApprovalsRepository } from './approvals/approvals.repository.js';
import { GuestChatController, GuestChatService } from './chat/guest-chat.controller.js';
import { GuestCodes, GuestCodesRepository } from './guest-codes.js';
import { CreationGate, GuestGate, GuestLimits } from './guest-limits.js';
import { GuestHousekeeping } from './guest-housekeeping.js';
import { GuestSessions } from './guest-sessions.js';
import { GuestLinks, InvitesService } from './invites/invites.service.js';
import { GuestMails } from './mails/guest-mails.js';
import { GuestsRepository } from './guests.repository.js';
import {
  CallInviteCreationController,
  CallInvitesController,
  RoomInviteCreationController,
  RoomInvitesController,
} from './invites/invites.controller.js';
import { InvitesRepository } from './invites/invites.repository.js';
import { LivestreamController, LivestreamService } from './livestream/livestream.controller.js';

/** Approvals come before invites, whose routes have `:invite_id` at the same place. */
export const GUEST_CONTROLLERS = [
  CallApprovalsController,
  RoomApprovalsController,
  CallInviteCreationController,
  RoomInviteCreationController,
  CallInvitesController,
  RoomInvitesController,
  GuestAccessController,
  GuestChatController,
  LivestreamController,
];

export const GUEST_PROVIDERS = [
  GuestsRepository,
  GuestCodesRepository,
  GuestLimits,
  GuestGate,
  CreationGate,
  GuestLinks,
  GuestMails,
  GuestCodes,
  GuestSessions,
  GuestAccessService,
  GuestChatService,
  LivestreamService,
  InvitesRepository,
  InvitesService,
  ApprovalsRepository,
  ApprovalsService,
  ApprovalChanges,
  GuestHousekeeping,
];
