import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { defineError } from '../../platform/http/errors.js';
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

/** An example of `details`. */
export const detail = (field: string, code: string, message: string) => ({
  details: [{ field, code, message }],
});

/** The errors of forms. */
export const FormErrors = {
  notPublished: defineError(409, 'not_published', 'The form is not published.'),
  archived: defineError(409, 'archived', 'The form is archived; restore it first.'),
  anonymityFixed: defineError(
    409,
    'anonymity_fixed',
    'The form has responses, so its anonymity can no longer change.',
  ),
  invalidDefinition: defineError(422, 'invalid_definition', 'The definition has errors; see details.', {
    example: detail(
      'sections.0.questions.2.type',
      'is_in',
      'sections.0.questions.2.type must be a type of question',
    ),
  }),
  noChanges: defineError(422, 'no_changes', 'The draft is the same as the published version.'),
  unknownPreset: defineError(422, 'unknown_preset', 'There is no preset with this id.'),
  assistantUnavailable: defineError(
    503,
    'assistant_unavailable',
    'The assistant is not configured or cannot be reached.',
  ),
} as const;
