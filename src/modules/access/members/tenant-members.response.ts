import { ApiProperty } from '@nestjs/swagger';
import type { TenantRole } from '../../../platform/context/request-context.js';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import type { MemberStatus } from '../../tenants/index.js';

export class TenantMemberResponse {
  @ApiProperty(UUID) user_id!: string;
  /** @example "Bob Okafor" */ display_name!: string;
  @ApiProperty({ example: 'bob@demo.example' }) email!: string;
  @ApiProperty({ enum: ['owner', 'admin', 'member'], example: 'admin' }) role!: TenantRole;
  @ApiProperty({ enum: ['active', 'deactivated'], example: 'active' }) status!: MemberStatus;
  @ApiProperty(DATE_TIME) created_at!: Date;
}

export class TenantMemberEnvelope {
  member!: TenantMemberResponse;
}

export class TenantMemberListEnvelope extends PageEnvelope {
  members!: TenantMemberResponse[];
}

export class MemberContentEnvelope {
  /** Number of objects by kind, including those in the trash. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { task_folders: 1, tasks: 30, note_folders: 2, notes: 12 },
  })
  content!: Record<string, number>;
}

export class TransferredContentEnvelope {
  /** Number of transferred objects by kind. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { task_folders: 1, tasks: 30, note_folders: 2, notes: 12 },
  })
  transferred!: Record<string, number>;
}
