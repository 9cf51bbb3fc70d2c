import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** What the mail service refuses, as it says so. */
export class MailRefusal {
  @ApiProperty({ example: 'This message does not exist', description: 'For people.' }) error!: string;
  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'integer' }],
    example: 'MessageNotFound',
    description: 'For programs.',
  })
  code?: string | number;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { limit: '"limit" must be a number' },
    description: 'What is wrong, by field.',
  })
  details?: Record<string, unknown>;
}
