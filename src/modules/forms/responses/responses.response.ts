import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { FormDefinition, FormOwner } from '../form.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = { format: 'date-time', example: '2026-11-21T09:30:00.000Z' };

export class SubmittedResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  /** The version that was answered. */
  @ApiProperty({ type: 'integer', example: 1 }) version!: number;
  /** To the minute in anonymous forms. */
  @ApiProperty(TIME) submitted_at!: string;
}

export class FormStartResponse {
  /** The time of the server, for `started_at` of the submission. */
  @ApiProperty(TIME) started_at!: string;
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
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'cv.pdf' }) name!: string;
  @ApiProperty({ type: 'integer', example: 48_213 }) size!: number;
  /** Detected from the content. */
  @ApiProperty({ example: 'application/pdf' }) content_type!: string;
  /** The file is deleted at this time unless a response contains it. */
  @ApiProperty(TIME) expires_at!: string;
}

export class FormUploadEnvelope {
  upload!: FormUploadResponse;
}

export class FormResponseItem extends SubmittedResponse {
  @ApiProperty(TIME) updated_at!: string;
  /** Null in anonymous forms. */
  @ApiProperty({
    type: FormOwner,
    nullable: true,
    example: { id: ID, name: 'Alice Martin', email: 'alice@acme.example' },
  })
  respondent!: FormOwner | null;
  /** Answers by question id. Files have `files` with `id`, `name`, `size` and `content_type`. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { attending: 'yes', diet: 'No nuts' } })
  answers!: Record<string, unknown>;
  /** Seconds from the start of the respondent to the submission; null when unknown. */
  @ApiProperty({ type: 'integer', nullable: true, example: 84 }) duration_seconds!: number | null;
}

export class FormResponseListEnvelope extends PageEnvelope {
  responses!: FormResponseItem[];
  /** Number of responses in the list. With filters on the first page only, and null above 10,000. */
  @ApiProperty({ type: 'integer', nullable: true, example: 42 }) total!: number | null;
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
