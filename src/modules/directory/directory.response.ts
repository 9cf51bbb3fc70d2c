import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { UUID } from '../../platform/field-docs/field-docs.js';

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
