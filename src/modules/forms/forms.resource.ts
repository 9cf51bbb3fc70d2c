import { ApiProperty } from '@nestjs/swagger';
import { defineError } from '../../platform/http/api-error.js';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { resource } from '../../platform/resources/resource.js';
import { FormResponse } from './form.response.js';

export const FORMS = resource({
  tag: 'forms',
  name: 'form',
  path: 'forms',
  item: FormResponse,
  notFound: 'You have no such form.',
});

class FormConflictResponse extends ErrorResponse {
  @ApiProperty({ type: 'integer', example: 6, description: 'The current draft_rev.' })
  draft_rev!: number;
}

export const formConflict = defineError(
  409,
  'conflict',
  'The form has changed since you read it; read it again and retry with the draft_rev in this response.',
  { example: { draft_rev: 6 }, type: FormConflictResponse },
);
