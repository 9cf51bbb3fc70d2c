import { GuestAccessController } from './access/access.controller.js';
import { GuestAccessService } from './access/access.service.js';
import { ApprovalChanges } from './changes/approval-changes.js';
import { CallApprovalsController, RoomApprovalsController } from './approvals/approvals.controller.js';
import { ApprovalsRepository } from './approvals/approvals.repository.js';
import { ApprovalsService } from './approvals/approvals.service.js';
import { GuestChatController } from './chat/guest-chat.controller.js';
import { GuestChatService } from './chat/guest-chat.service.js';
import { GuestCodesRepository } from './guest-codes.repository.js';
import { GuestCodes } from './guest-codes.js';
import { CreationGate, GuestGate } from './guest-gates.js';
import { GuestHousekeeping } from './guest-housekeeping.js';
import { GuestLimits } from './guest-limits.js';
import { GuestSessions } from './guest-sessions.js';
import { GuestLinks } from './guest-links.js';
import { GuestMails } from './mails/guest-mails.js';
import { GuestsRepository } from './guests.repository.js';
import {
  CallInviteCreationController,
  CallInvitesController,
  RoomInviteCreationController,
  RoomInvitesController,
} from './invites/invites.controller.js';
import { InvitesRepository } from './invites/invites.repository.js';
import { InvitesService } from './invites/invites.service.js';
import { LivestreamController } from './livestream/livestream.controller.js';
import { LivestreamService } from './livestream/livestream.service.js';

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
