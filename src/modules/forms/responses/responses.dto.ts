import { ApiProperty, ApiPropertyOptional, IntersectionType, PickType } from '@nestjs/swagger';
import { IsInt, IsObject, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';
import { Moment, Optional } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { ResponseFilter } from '../input/response-filter.dto.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

export class SubmitForm {
  /**
   * Answers by question id: text, numbers, `true`, option ids, lists of option ids, `{ "<row>": "<option>" }`,
   * `{ "from", "to" }`, `{ "upload_ids": [...] }`. Answers to hidden questions are discarded.
   */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { attending: 'yes', diet: 'No nuts' } })
  @IsObject()
  answers!: Record<string, unknown>;

  /** The version that the respondent answered. Default: the current one. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 1_000_000_000, example: 1 })
  @Optional()
  @Max(1_000_000_000)
  @Min(1)
  @IsInt()
  version?: number;

  /** Chosen by the client for each response: a repeated submission returns the stored response. */
  @ApiPropertyOptional({ format: 'uuid', example: '0199aaaa-bbbb-4ccc-8ddd-eeeeffff0000' })
  @Optional()
  @IsUUID()
  client_response_id?: string;

  /** Replaces the answers of this response of the caller, where the form allows it. */
  @ApiPropertyOptional({ format: 'uuid', example: ID })
  @Optional()
  @IsUUID()
  response_id?: string;

  /** Token of the share link, for callers without another role. */
  @ApiPropertyOptional({ maxLength: 100, example: 'Zm9vYmFyYmF6cXV4' })
  @Optional()
  @MaxLength(100)
  @IsString()
  share_token?: string;

  /** When the respondent opened the form, for the duration in the analytics. */
  @ApiPropertyOptional({ type: String, format: 'date-time', example: '2026-11-21T09:25:00Z' })
  @Optional()
  @Moment()
  started_at?: Date;
}

export class StartForm extends PickType(SubmitForm, ['share_token']) {}

export class UploadQuery {
  /** The question of type `file`. It may also be a field of the form data. */
  @ApiPropertyOptional({ maxLength: 64, example: 'cv' })
  @Optional()
  @MaxLength(64)
  @IsString({ message: 'question_id must be given once' })
  question_id?: string;

  /** Token of the share link, for callers without another role. */
  @ApiPropertyOptional({ maxLength: 100, example: 'Zm9vYmFyYmF6cXV4' })
  @Optional()
  @MaxLength(100)
  @IsString({ message: 'share_token must be given once' })
  share_token?: string;
}

export class ListResponses extends IntersectionType(PageQuery, ResponseFilter) {
  static readonly documentedErrors = PageQuery.documentedErrors;

  /**
   * Words that the texts and the labels of the answers contain.
   * @example "nuts"
   */
  @Optional()
  @MaxLength(200)
  @IsString()
  q?: string;
}
