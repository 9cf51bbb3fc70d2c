import { ApiProperty } from '@nestjs/swagger';
import { DATE_TIME, EXAMPLE_ID, EXAMPLE_TIME, UUID } from '../../platform/field-docs/field-docs.js';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { defineError } from '../../platform/http/errors.js';
import { PageEnvelope } from '../../platform/paging/page.dto.js';
import { QUOTAS, formatLimit } from '../../platform/quotas/quotas.js';

export class GroupResponse {
  @ApiProperty(UUID) id!: string;
  /** Stable identifier for programs. @example "editors" */ key!: string;
  /** @example "Editors" */ name!: string;
  /** @example "Keep the handbook up to date." */ description!: string;
  /** True for `owners`, `admins` and `members`, which every workspace has. @example false */
  system!: boolean;
  @ApiProperty({ type: 'integer', example: 3 }) members_count!: number;
  @ApiProperty({ type: 'integer', example: 2 }) permissions_count!: number;
  /** Increases when name, description or permissions change. @example 1 */
  @ApiProperty({ type: 'integer', minimum: 1 }) rev!: number;
  @ApiProperty(DATE_TIME) created_at!: Date;
  @ApiProperty(DATE_TIME) updated_at!: Date;
}

export class GroupMemberResponse {
  @ApiProperty(UUID) user_id!: string;
  /** @example "Bob Okafor" */ display_name!: string;
  @ApiProperty({ example: 'bob@demo.example' }) email!: string;
  @ApiProperty({ enum: ['active', 'deactivated'], example: 'active' }) status!: string;
  /** Null when the operator added the member. */
  @ApiProperty(UUID) added_by!: string | null;
  @ApiProperty(DATE_TIME) added_at!: Date;
}

export class AddedMembersEnvelope {
  /** The added members, without members who were in the group before. */
  members!: GroupMemberResponse[];
}

export class GroupMemberListEnvelope extends PageEnvelope {
  members!: GroupMemberResponse[];
}

export class RemovedMemberEnvelope {
  @ApiProperty({ enum: [true], example: true }) removed!: true;
}

export class PermissionResponse {
  /** @example "forms.create" */ id!: string;
  /** @example "Create forms." */ description!: string;
}

export class AvailablePermissionResponse extends PermissionResponse {
  /** Whether you hold it and may grant and revoke it. @example true */ held!: boolean;
}

export class PermissionsEnvelope {
  /** Permissions of the group. */ permissions!: PermissionResponse[];
  /** All permissions. */ available!: AvailablePermissionResponse[];
}

/** 409 `conflict`: the current group, to merge with. */
export class GroupConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  group!: GroupResponse;
}

/** 403 `cannot_grant_unheld`: the permissions that the caller lacks. */
export class CannotGrantResponse extends ErrorResponse {
  @ApiProperty({ enum: ['cannot_grant_unheld'], example: 'cannot_grant_unheld' })
  override error!: 'cannot_grant_unheld';
  /** @example ["forms.manage_any"] */ permissions!: string[];
}

export const AccessErrors = {
  memberNotFound: defineError(404, 'not_found', 'The workspace has no such active member.'),
  tenantMemberNotFound: defineError(404, 'not_found', 'The workspace has no such member.'),
  notInGroup: defineError(404, 'not_found', 'The user is not a member of the group.'),
  notGranted: defineError(404, 'not_found', 'The group does not have this permission.'),
  alreadyExists: defineError(409, 'already_exists', 'A group with this name or key exists already.'),
  conflict: defineError(
    409,
    'conflict',
    'The group has changed since you read it; read it again and retry.',
    {
      example: {
        group: {
          id: EXAMPLE_ID,
          key: 'editors',
          name: 'Editors',
          description: '',
          system: false,
          members_count: 3,
          permissions_count: 2,
          rev: 4,
          created_at: EXAMPLE_TIME,
          updated_at: EXAMPLE_TIME,
        },
      },
      type: GroupConflictResponse,
    },
  ),
  accountClosed: defineError(
    409,
    'account_closed',
    'The operator closed the account of this member; only the operator can reopen it.',
  ),
  memberActive: defineError(409, 'member_active', 'Deactivate the member before the transfer.'),
  sessionNotFound: defineError(404, 'not_found', 'The member has no such session in this workspace.'),
  memberOfOtherWorkspaces: defineError(
    409,
    'member_of_other_workspaces',
    'The account belongs to other workspaces too; only the operator can recover it.',
  ),
  invitationNotFound: defineError(404, 'not_found', 'The workspace has no such invitation.'),
  alreadyMember: defineError(409, 'already_member', 'The workspace has a member with this address.'),
  alreadyInvited: defineError(409, 'already_invited', 'The address has a pending invitation; resend it.'),
  invitationEnded: defineError(
    409,
    'invitation_ended',
    'The invitation was accepted or revoked, has expired, or was sent ten times.',
  ),
  unknownGroup: defineError(422, 'unknown_group', 'The workspace has no such group.'),
  tooManyInvitations: defineError(
    422,
    'too_many_invitations',
    `A workspace may have at most ${formatLimit(QUOTAS.workspace.invitations)} pending invitations.`,
  ),
  mailNotConfigured: defineError(503, 'mail_not_configured', 'The service cannot send mails.'),
  lastAdmin: defineError(409, 'last_admin', 'The workspace must keep an active owner.'),
  systemGroup: defineError(403, 'system_group', 'System groups do not allow this change.'),
  cannotGrantUnheld: defineError(
    403,
    'cannot_grant_unheld',
    'You can grant, revoke and manage only permissions that you hold.',
    { example: { permissions: ['forms.manage_any'] }, type: CannotGrantResponse },
  ),
  unknownPermission: defineError(422, 'unknown_permission', 'The permission does not exist.'),
  tooManyGroups: defineError(
    422,
    'too_many_groups',
    `A workspace may have at most ${QUOTAS.workspace.groups} groups.`,
  ),
} as const;
