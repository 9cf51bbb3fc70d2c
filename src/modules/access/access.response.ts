import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { PageEnvelope } from '../../platform/paging/page.response.js';
import { DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';

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
