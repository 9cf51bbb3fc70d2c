import { ApiProperty } from '@nestjs/swagger';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

export class GroupResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'editors', description: 'For programs; never changes.' }) key!: string;
  @ApiProperty({ example: 'Editors' }) name!: string;
  @ApiProperty({ example: 'Keep the handbook up to date.' }) description!: string;
  @ApiProperty({
    example: false,
    description: '`owners`, `admins` and `members`: they come with the workspace and stay.',
  })
  system!: boolean;
  @ApiProperty({ type: 'integer', example: 3 }) members_count!: number;
  @ApiProperty({ type: 'integer', example: 2 }) permissions_count!: number;
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    example: 1,
    description: 'Rises with name, description and permissions.',
  })
  rev!: number;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) updated_at!: string;
}

export class GroupEnvelope {
  @ApiProperty({ type: GroupResponse }) group!: GroupResponse;
}

export class DeletedGroupEnvelope extends GroupEnvelope {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class GroupListEnvelope {
  @ApiProperty({ type: [GroupResponse] }) groups!: GroupResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The `cursor` of the next page; null on the last.',
  })
  next!: string | null;
}

export class GroupMemberResponse {
  @ApiProperty({ format: 'uuid', example: ID }) user_id!: string;
  @ApiProperty({ example: 'Bob Okafor' }) display_name!: string;
  @ApiProperty({ example: 'bob@demo.example' }) email!: string;
  @ApiProperty({ enum: ['active', 'deactivated'], example: 'active' }) status!: string;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    example: ID,
    description: 'Null: the operator.',
  })
  added_by!: string | null;
  @ApiProperty({ format: 'date-time', example: TIME }) added_at!: string;
}

export class AddedMembersEnvelope {
  @ApiProperty({ type: [GroupMemberResponse], description: 'Those who were not in it before.' })
  members!: GroupMemberResponse[];
}

export class GroupMemberListEnvelope {
  @ApiProperty({ type: [GroupMemberResponse] }) members!: GroupMemberResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The `cursor` of the next page; null on the last.',
  })
  next!: string | null;
}

export class RemovedMemberEnvelope {
  @ApiProperty({ enum: [true], example: true }) removed!: true;
}

export class PermissionResponse {
  @ApiProperty({ example: 'forms.create' }) id!: string;
  @ApiProperty({ example: 'Create forms.' }) description!: string;
}

export class AvailablePermissionResponse extends PermissionResponse {
  @ApiProperty({ example: true, description: 'Whether you hold it, so that you may grant and revoke it.' })
  held!: boolean;
}

export class PermissionsEnvelope {
  @ApiProperty({ type: [PermissionResponse], description: 'What the group allows.' })
  permissions!: PermissionResponse[];
  @ApiProperty({ type: [AvailablePermissionResponse], description: 'All there are.' })
  available!: AvailablePermissionResponse[];
}
