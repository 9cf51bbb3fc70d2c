import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { DATE_TIME, EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';
import { FormDefinition, FormOwner } from '../form.response.js';

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
