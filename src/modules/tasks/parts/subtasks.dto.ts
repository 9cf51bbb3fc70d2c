import {
  ApiPropertyOptional,
  getSchemaPath,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Allow, ValidateNested } from 'class-validator';
import { asNamedUser, Nullable } from '../../../platform/http/input.decorators.js';
import { NamedUser, POSITION } from '../task-fields.dto.js';
import { TaskFields, UpdateTask } from '../tasks.dto.js';

export class UpdateSubtask extends PartialType(
  IntersectionType(
    PickType(TaskFields, ['title', 'done', 'date'] as const),
    PickType(UpdateTask, ['device_id'] as const),
  ),
  { skipNullProperties: false },
) {
  /** A user who can read the task; a bare string is an id or an e-mail address. */
  @ApiPropertyOptional({
    nullable: true,
    anyOf: [{ $ref: getSchemaPath(NamedUser) }, { type: 'string' }, { type: 'null' }],
    example: null,
  })
  @Nullable()
  @ValidateNested({ message: 'assignee must be an object, an id or an address' })
  @Transform(({ value }) => asNamedUser(NamedUser, value))
  assignee?: NamedUser | null;

  /** Manual order: `first`, `last` (default), before or after another subtask, or the position of a subtask. */
  @ApiPropertyOptional({ ...POSITION, example: 'last' }) @Allow() position?: unknown;
}

export class CreateSubtask extends IntersectionType(
  PickType(TaskFields, ['title'] as const),
  OmitType(UpdateSubtask, ['title'] as const),
) {}
