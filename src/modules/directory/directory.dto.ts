import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { UUID } from '../../platform/field-docs/field-docs.js';
import { Text, WholeNumber } from '../../platform/http/input.decorators.js';

const MAX_RESULTS = 50;
const LIMIT = `limit must be a whole number from 1 to ${MAX_RESULTS}`;

const KINDS = 'kinds must contain some of user, group and contact';

export class SearchDirectory {
  /** Beginnings of words of a name or address, in any order. Ignores case and accents. At least two letters or digits. */
  @Matches(/[\p{L}\p{N}].*[\p{L}\p{N}]/su, { message: 'q must contain two letters or digits' })
  @Text(200, { minLength: 2, example: 'mar' })
  q!: string;

  /** Comma-separated: `user`, `group`, `contact`. @example "user,group,contact" */
  @ApiPropertyOptional()
  @IsOptional()
  @Matches(/^(?:user|group|contact)(?:,(?:user|group|contact)){0,2}$/, { message: KINDS })
  @IsString({ message: KINDS })
  kinds: string = 'user,group,contact';

  /** Maximum number of results. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: MAX_RESULTS, required: false })
  @IsOptional()
  @WholeNumber()
  @Min(1, { message: LIMIT })
  @Max(MAX_RESULTS, { message: LIMIT })
  @IsInt({ message: LIMIT })
  limit: number = 20;
}

export class DirectoryResultResponse {
  @ApiProperty({ enum: ['user', 'group', 'contact'], example: 'user' }) kind!: string;
  @ApiProperty(UUID) id!: string;
  /** @example "Alice Martin" */ name!: string;
  /** Null for groups and for contacts without an address. */
  @ApiProperty({ example: 'alice@demo.example' }) email!: string | null;
  /** Path of the photo of a member or contact. */
  @ApiProperty({ format: 'uri-reference', example: null }) avatar_url!: string | null;
  /** Names a contact together with `external_id`; only for contacts. */
  @ApiPropertyOptional(UUID) addressbook_id?: string;
  @ApiPropertyOptional({ example: 'phone-17' }) external_id?: string;
  /** 1: begins with the query; 0.9: contains words that begin with it; 0.85: a contact; less: similar. @example 1 */
  @ApiProperty({ minimum: 0, maximum: 1 }) score!: number;
}

export class DirectoryEnvelope {
  /** Best match first. */ results!: DirectoryResultResponse[];
}
