import { ApiProperty } from '@nestjs/swagger';
import { defineError } from '../../../../platform/http/api-error.js';
import { ErrorResponse } from '../../../../platform/http/error.response.js';
import { detail } from '../../forms.errors.js';

/** The errors of reports. */
export const ReportErrors = {
  notExposed: defineError(403, 'not_exposed', 'The report does not show this part of the form.'),
  invalidReport: defineError(422, 'invalid_report', 'The report has errors; see details.', {
    example: detail(
      'columns.0',
      'unknown_question',
      'columns.0 must be the id of a question of the form, once',
    ),
  }),
  unknownViewer: defineError(
    404,
    'unknown_viewer',
    'A user or group is not part of this workspace; see details.',
    {
      example: detail(
        'viewers.0',
        'unknown_user',
        'viewers.0 is not an active member or group of this workspace',
      ),
    },
  ),
} as const;

class ReportConflictResponse extends ErrorResponse {
  @ApiProperty({ type: 'integer', example: 3, description: 'The current rev.' })
  rev!: number;
}

export const reportConflict = defineError(
  409,
  'conflict',
  'The report has changed since you read it; read it again and retry with the rev in this response.',
  { example: { rev: 3 }, type: ReportConflictResponse },
);
