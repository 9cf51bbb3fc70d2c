import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsString,
  IsUUID,
  Matches,
  MaxLength,
  Min,
} from 'class-validator';
import { Distinct, MayBeAbsent, Name } from '../../platform/http/input.decorators.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const MAX_NAME = 100;
const MAX_AT_ONCE = 200;

export class CreateGroup {
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_NAME,
    example: 'Editors',
    description: 'Unique, whatever the case.',
  })
  @Name(MAX_NAME)
  name!: string;

  @ApiPropertyOptional({
    example: 'editors',
    pattern: '^[a-z0-9][a-z0-9_-]{0,62}$',
    description: 'For programs; never changes. Made from the name when left out.',
  })
  @MayBeAbsent()
  @Matches(/^[a-z0-9][a-z0-9_-]{0,62}$/, {
    message: 'key must be lower-case letters, digits, - and _, at most 63',
  })
  key?: string;

  @ApiPropertyOptional({ maxLength: 1000, example: 'Keep the handbook up to date.' })
  @MayBeAbsent()
  @MaxLength(1000)
  @IsString()
  description?: string;

  @ApiPropertyOptional({
    type: [String],
    example: ['forms.create'],
    description: 'Only such as you hold yourself.',
  })
  @MayBeAbsent()
  @Distinct()
  @IsString({ each: true })
  @ArrayMaxSize(MAX_AT_ONCE)
  @IsArray()
  permissions?: string[];
}

export class UpdateGroup {
  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_NAME, example: 'Editors' })
  @MayBeAbsent()
  @Name(MAX_NAME)
  name?: string;

  @ApiPropertyOptional({ maxLength: 1000, example: 'Keep the handbook up to date.' })
  @MayBeAbsent()
  @MaxLength(1000)
  @IsString()
  description?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    example: 3,
    description: 'The `rev` you read: when the group has changed since, 409 `conflict`.',
  })
  @MayBeAbsent()
  @Min(1)
  @IsInt()
  rev?: number;
}

export class AddMembers {
  @ApiPropertyOptional({ format: 'uuid', example: ID, description: 'This or `user_ids`.' })
  @MayBeAbsent()
  @IsUUID('all', { message: 'user_id must be a UUID' })
  user_id?: string;

  @ApiPropertyOptional({ type: [String], format: 'uuid', example: [ID], maxItems: MAX_AT_ONCE })
  @MayBeAbsent()
  @IsUUID('all', { each: true, message: 'user_ids must be UUIDs' })
  @ArrayMaxSize(MAX_AT_ONCE)
  @ArrayMinSize(1)
  @IsArray()
  user_ids?: string[];
}

export class GrantPermissions {
  @ApiPropertyOptional({ example: 'forms.create', description: 'This or `permissions`.' })
  @MayBeAbsent()
  @IsString()
  permission?: string;

  @ApiPropertyOptional({ type: [String], example: ['forms.create'] })
  @MayBeAbsent()
  @IsString({ each: true })
  @ArrayMaxSize(MAX_AT_ONCE)
  @ArrayMinSize(1)
  @IsArray()
  permissions?: string[];
}
