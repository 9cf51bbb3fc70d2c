import { ApiProperty, IntersectionType, PickType } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { DATE_TIME, EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';
import { ErrorResponse } from '../../../platform/http/error.response.js';
import { defineError } from '../../../platform/http/errors.js';
import { IntegerFrom, Moment, Optional, Text, Uuid } from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';
import { FormDefinition, FormOwner } from '../form.response.js';
import { detail } from '../forms.resource.js';
import { ResponseFilter } from '../input/form.dto.js';

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

export class SubmittedResponse {
  @ApiProperty(UUID) id!: string;
  /** The version that was answered. */
  @ApiProperty({ type: 'integer', example: 1 }) version!: number;
  /** To the minute in anonymous forms. */
  @ApiProperty(DATE_TIME) submitted_at!: string;
}

export class FormStartResponse {
  /** The time of the server, for `started_at` of the submission. */
  @ApiProperty(DATE_TIME) started_at!: string;
}

export class SubmissionEnvelope {
  response!: SubmittedResponse;
  /** The text of the form for respondents. */
  @ApiProperty({ example: 'Thank you!' }) confirmation!: string;
  /** Questions whose answers were not stored, because the logic of the form hides them. */
  @ApiProperty({ type: [String], example: ['diet'] }) discarded!: string[];
}

export class FormUploadResponse {
  /** For `upload_ids` of an answer; usable once. */
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'cv.pdf' }) name!: string;
  @ApiProperty({ type: 'integer', example: 48_213 }) size!: number;
  /** Detected from the content. */
  @ApiProperty({ example: 'application/pdf' }) content_type!: string;
  /** The file is deleted at this time unless a response contains it. */
  @ApiProperty(DATE_TIME) expires_at!: string;
}

export class FormUploadEnvelope {
  upload!: FormUploadResponse;
}

export class FormResponseItem extends SubmittedResponse {
  @ApiProperty(DATE_TIME) updated_at!: string;
  /** Null in anonymous forms. */
  @ApiProperty({
    type: FormOwner,
    nullable: true,
    example: { id: EXAMPLE_ID, name: 'Alice Martin', email: 'alice@acme.example' },
  })
  respondent!: FormOwner | null;
  /** Answers by question id. Files have `files` with `id`, `name`, `size` and `content_type`. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { attending: 'yes', diet: 'No nuts' } })
  answers!: Record<string, unknown>;
  /** Seconds from the `started_at` of the submission to its receipt; null when unknown. */
  @ApiProperty({ type: 'integer', example: 84 }) duration_seconds!: number | null;
}

export class FormResponseListEnvelope extends PageEnvelope {
  responses!: FormResponseItem[];
  /** Number of responses in the list. With filters on the first page only, and null above 10,000. */
  @ApiProperty({ type: 'integer', example: 42 }) total!: number | null;
}

export class DeletedFormResponseEnvelope {
  response!: FormResponseItem;
  @ApiProperty({ example: true }) deleted!: true;
}

export class FormResponseEnvelope {
  response!: FormResponseItem;
  /** The version that was answered. */
  definition!: FormDefinition;
}

/** Reasons for `not_accepting`. */
const CLOSED_REASONS = ['closed', 'not_open', 'full', 'archived'] as const;

class NotAcceptingResponse extends ErrorResponse {
  @ApiProperty({ enum: CLOSED_REASONS, example: 'closed' })
  reason!: string;
  /** The owner's message for closed forms. */
  @ApiProperty({ type: String, required: false, example: 'Thank you, the survey has ended.' })
  closed_message?: string;
}

class AlreadySubmittedResponse extends ErrorResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    required: false,
    example: EXAMPLE_ID,
    description: 'The response of the caller, which can be changed. Missing for anonymous forms.',
  })
  response_id?: string;
}

class VersionOutdatedResponse extends ErrorResponse {
  @ApiProperty({ type: 'integer', example: 3, description: 'The current version.' })
  version!: number;
}

/** The errors of submissions and responses. */
export const ResponseErrors = {
  notAccepting: defineError(403, 'not_accepting', 'The form does not accept responses now; see reason.', {
    example: { reason: 'closed' },
    type: NotAcceptingResponse,
  }),
  alreadySubmitted: defineError(409, 'already_submitted', 'The form accepts one response from each user.', {
    type: AlreadySubmittedResponse,
  }),
  clientResponseIdReused: defineError(
    409,
    'client_response_id_reused',
    'This client_response_id belongs to a response with other answers.',
  ),
  notEditable: defineError(409, 'not_editable', 'Responses to this form cannot be changed.'),
  uploadUsed: defineError(
    409,
    'upload_used',
    'A file has expired or belongs to another response; upload it again.',
  ),
  versionOutdated: defineError(
    409,
    'version_outdated',
    'The form has changed and the answers no longer fit; see details.',
    {
      example: { version: 3, ...detail('q1', 'required', 'q1 must be answered') },
      type: VersionOutdatedResponse,
    },
  ),
  invalidAnswers: defineError(422, 'invalid_answers', 'Some answers are invalid; see details.', {
    example: detail('q1', 'required', 'q1 must be answered'),
  }),
  responseNotFound: defineError(404, 'not_found', 'This response does not exist.'),
  tooManyUploads: defineError(
    422,
    'too_many_uploads',
    'Too many files wait for a submission; submit the form or wait a day.',
  ),
} as const;
