import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, IsUUID, Matches } from 'class-validator';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import {
  Distinct,
  IntegerFrom,
  Name,
  Optional,
  Text,
  Uuid,
} from '../../../platform/http/input.decorators.js';
import { resource } from '../../../platform/resources/resource.js';
import { GroupResponse } from '../access.dto.js';

/** Characters, as in Microsoft Entra, whose groups SCIM creates. */
const MAX_NAME = 256;
const MAX_AT_ONCE = 200;

export class CreateGroup {
  /** Unique, ignoring case and accents. */
  @Name(MAX_NAME, { example: 'Editors' }) name!: string;

  /** Stable identifier for programs. Default: derived from the name. @example "editors" */
  @ApiPropertyOptional({ pattern: '^[a-z0-9][a-z0-9_-]{0,62}$' })
  @Optional()
  @Matches(/^[a-z0-9][a-z0-9_-]{0,62}$/, {
    message: 'key must be lower-case letters, digits, - and _, at most 63',
  })
  key?: string;

  @Optional() @Text(1000, { example: 'Keep the handbook up to date.' }) description?: string;

  /** Only permissions that you hold. @example ["forms.create"] */
  @Optional()
  @Distinct()
  @IsString({ each: true })
  @ArrayMaxSize(MAX_AT_ONCE)
  @IsArray()
  permissions?: string[];
}

export class UpdateGroup {
  @Optional() @Name(MAX_NAME, { example: 'Editors' }) name?: string;
  @Optional() @Text(1000, { example: 'Keep the handbook up to date.' }) description?: string;
  /** The `rev` that you read. 409 `conflict` when the group has changed since then. */
  @Optional() @IntegerFrom(1, { example: 3 }) rev?: number;
}

export class AddGroupMembers {
  /** This, `user_ids`, or both. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) user_id?: string;

  @ApiPropertyOptional({ type: [String], format: 'uuid', example: [EXAMPLE_ID], maxItems: MAX_AT_ONCE })
  @Optional()
  @IsUUID('all', { each: true, message: 'user_ids must be UUIDs' })
  @ArrayMaxSize(MAX_AT_ONCE)
  @ArrayMinSize(1)
  @IsArray()
  user_ids?: string[];
}

export class GrantPermissions {
  /** This, `permissions`, or both. @example "forms.create" */
  @Optional() @IsString() permission?: string;

  /** @example ["forms.create"] */
  @Optional()
  @IsString({ each: true })
  @ArrayMaxSize(MAX_AT_ONCE)
  @ArrayMinSize(1)
  @IsArray()
  permissions?: string[];
}

export const GROUPS = resource({
  tag: 'access',
  name: 'group',
  path: 'rbac/groups',
  item: GroupResponse,
  notFound: 'The group does not exist.',
});
