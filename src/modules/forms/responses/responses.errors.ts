import { ApiProperty } from '@nestjs/swagger';
import { defineError } from '../../../platform/http/api-error.js';
import { ErrorResponse } from '../../../platform/http/error.response.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { detail } from '../forms.errors.js';

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
