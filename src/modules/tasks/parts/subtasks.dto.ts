import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Allow, IsBoolean, IsString, MaxLength, ValidateNested } from 'class-validator';
import { asPerson, MayBeAbsent, Nullable } from '../../../platform/http/input.decorators.js';
import { CalendarDay, NotBlank, NamedPerson } from '../task-fields.dto.js';
import { MAX_TITLE } from '../tasks.dto.js';

const TITLE = { minLength: 1, maxLength: MAX_TITLE, example: 'Ask for a quote' };

class SubtaskFields {
  @ApiPropertyOptional({ example: false })
  @MayBeAbsent()
  @IsBoolean()
  done?: boolean;

  @ApiPropertyOptional({
    nullable: true,
    anyOf: [{ $ref: getSchemaPath(NamedPerson) }, { type: 'string' }, { type: 'null' }],
    example: null,
    description: 'Somebody who sees the task; a bare string is an id or an address.',
  })
  @Nullable()
  @ValidateNested({ message: 'assignee must be an object, an id or an address' })
  @Transform(({ value }) => asPerson(NamedPerson, value))
  assignee?: NamedPerson | null;

  @ApiPropertyOptional({ type: String, format: 'date', nullable: true, example: '2026-12-01' })
  @Nullable()
  @CalendarDay()
  date?: string | null;

  @ApiPropertyOptional({
    anyOf: [
      { type: 'string', maxLength: 200 },
      { type: 'object', properties: { before: { type: 'string', format: 'uuid' } }, required: ['before'] },
      { type: 'object', properties: { after: { type: 'string', format: 'uuid' } }, required: ['after'] },
    ],
    example: 'last',
    description: 'As for tasks: `first`, `last` (default), before or after another subtask, or a key.',
  })
  @Allow()
  position?: unknown;
}

export class CreateSubtask extends SubtaskFields {
  @ApiProperty(TITLE)
  @MaxLength(MAX_TITLE)
  @NotBlank()
  @IsString()
  title!: string;
}

export class UpdateSubtask extends SubtaskFields {
  @ApiPropertyOptional(TITLE)
  @MayBeAbsent()
  @MaxLength(MAX_TITLE)
  @NotBlank()
  @IsString()
  title?: string;
}
