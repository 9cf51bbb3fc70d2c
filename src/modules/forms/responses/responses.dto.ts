import { ApiProperty, IntersectionType, PickType } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { IntegerFrom, Moment, Optional, Text, Uuid } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { ResponseFilter } from '../input/response-filter.dto.js';

export class SubmitForm {
  /**
   * Answers by question id: text, numbers, `true`, option ids, lists of option ids, `{ "<row>": "<option>" }`,
   * `{ "from", "to" }`, `{ "upload_ids": [...] }`. Answers to hidden questions are discarded.
   */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { attending: 'yes', diet: 'No nuts' } })
  @IsObject()
  answers!: Record<string, unknown>;

  /** The version that the respondent answered. Default: the current one. */
  @Optional() @IntegerFrom(1, 1_000_000_000, { example: 1 }) version?: number;
  /** Chosen by the client for each response: a repeated submission returns the stored response. */
  @Optional() @Uuid({ example: '0199aaaa-bbbb-4ccc-8ddd-eeeeffff0000' }) client_response_id?: string;
  /** Replaces the answers of this response of the caller, where the form allows it. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) response_id?: string;
  /** Token of the share link, for callers without another role. */
  @Optional() @Text(100, { example: 'Zm9vYmFyYmF6cXV4' }) share_token?: string;

  /** When the respondent opened the form, for the duration in the analytics. */
  @Optional() @Moment({ example: '2026-11-21T09:25:00Z' }) started_at?: Date;
}

export class StartForm extends PickType(SubmitForm, ['share_token']) {}

export class UploadQuery {
  /** The question of type `file`. It may also be a field of the form data. */
  @Optional() @Text(64, { message: 'question_id must be given once', example: 'cv' }) question_id?: string;

  /** Token of the share link, for callers without another role. */
  @Optional()
  @Text(100, { message: 'share_token must be given once', example: 'Zm9vYmFyYmF6cXV4' })
  share_token?: string;
}

export class ReadResponse extends PickType(UploadQuery, ['share_token']) {}

export class ListResponses extends IntersectionType(PageQuery, ResponseFilter) {
  static readonly documentedErrors = PageQuery.documentedErrors;
  /** Words that the texts and the labels of the answers contain. */
  @Optional() @Text(200, { example: 'nuts' }) q?: string;
}
