import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Distinct, Optional } from '../../../platform/http/input.decorators.js';
import { MAX_UID } from '../../../lib/contact-card/index.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
export const MAX_GROUP = 20;

class InBook {
  @ApiProperty({ format: 'uuid', example: ID })
  @IsUUID('all', { message: 'addressbook_id must be a UUID' })
  addressbook_id!: string;
}

export class FindDuplicates extends InBook {
  /** Maximum number of groups. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 200, default: 50 })
  @Optional()
  @Max(200)
  @Min(1)
  @IsInt()
  limit: number = 50;
}

export class MergeContacts extends InBook {
  /** The external_ids. The first contact stays and gets the fields of the others, which are deleted. */
  @ApiProperty({ minItems: 2, maxItems: MAX_GROUP, example: ['phone-17', 'phone-18'] })
  @ArrayMaxSize(MAX_GROUP)
  @ArrayMinSize(2)
  @MaxLength(MAX_UID, { each: true })
  @IsString({ each: true })
  @Distinct()
  @IsArray()
  external_ids!: string[];
}
