import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsIn,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Matches,
  MaxLength,
} from 'class-validator';
import { Transform } from 'class-transformer';
import { Repeatable } from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { CalendarDay, LowerCase } from './task-fields.dto.js';
import { PRIORITIES, STATUSES, type TaskPriority, type TaskStatus } from './task.entity.js';

export const SORTS = ['updated_at', 'created_at', 'date', 'priority', 'position'] as const;

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const LIST = { type: 'array' as const, maxItems: 20 };

/** A parameter that may be repeated, or hold several values between commas; in any case. */
const Several = () =>
  Transform(({ value }) =>
    (Array.isArray(value) ? value : [value]).flatMap((entry: unknown) =>
      typeof entry === 'string' ? entry.toLowerCase().split(',') : [entry],
    ),
  );

/** What narrows a list of tasks, and its order. */
export class ListTasks extends PageQuery {
  @ApiPropertyOptional({
    example: 'none',
    description: 'Only tasks in this folder; `none` for those in no folder you see.',
  })
  @IsOptional()
  @Matches(new RegExp(`^(?:none|${ID})$`, 'i'), {
    message: 'folder_id must be the id of a task folder, or none',
  })
  folder_id?: string;

  @ApiPropertyOptional({ maxLength: 200, example: 'Travel', description: 'Only tasks under this heading.' })
  @IsOptional()
  @MaxLength(200)
  @IsString()
  group?: string;

  @ApiPropertyOptional({
    ...LIST,
    items: { type: 'string', enum: [...STATUSES] },
    example: ['open'],
    description: 'Repeat it for several.',
  })
  @IsOptional()
  @IsIn(STATUSES, { each: true })
  @ArrayMaxSize(20)
  @Several()
  status?: TaskStatus[];

  @ApiPropertyOptional({
    ...LIST,
    items: { type: 'string', enum: [...PRIORITIES] },
    example: ['high'],
    description: 'Repeat it for several.',
  })
  @IsOptional()
  @IsIn(PRIORITIES, { each: true })
  @ArrayMaxSize(20)
  @Several()
  priority?: TaskPriority[];

  @ApiPropertyOptional({
    example: 'me',
    description: 'Only tasks assigned to this person; `me` for yourself, `none` for nobody.',
  })
  @IsOptional()
  @Matches(new RegExp(`^(?:me|none|${ID})$`, 'i'), {
    message: 'assignee must be me, none or the id of a person',
  })
  assignee?: string;

  @ApiPropertyOptional({ format: 'date', example: '2026-12-01', description: 'Due on this day or later.' })
  @IsOptional()
  @CalendarDay()
  date_from?: string;

  @ApiPropertyOptional({ format: 'date', example: '2026-12-31', description: 'Due on this day or earlier.' })
  @IsOptional()
  @CalendarDay()
  date_to?: string;

  @ApiPropertyOptional({
    enum: ['true', 'false'],
    example: 'true',
    description: 'true: only open tasks whose time is over. false: all others.',
  })
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'overdue must be true or false' })
  overdue?: 'true' | 'false';

  @ApiPropertyOptional({
    format: 'uuid',
    example: '01890a5d-ac96-774b-bcce-b302099a8057',
    description: 'Only tasks that refer to this note.',
  })
  @IsOptional()
  @IsUUID('all', { message: 'note_id must be a UUID' })
  note_id?: string;

  @ApiPropertyOptional({
    ...LIST,
    items: { type: 'string', maxLength: 100 },
    example: ['offsite'],
    description: 'Only tasks with this label; repeat it to ask for several at once.',
  })
  @IsOptional()
  @Repeatable()
  @MaxLength(100, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(20)
  label?: string[];

  @ApiPropertyOptional({
    minLength: 1,
    maxLength: 256,
    example: 'rooms',
    description: 'Only tasks whose title contains this text, whatever the case.',
  })
  @IsOptional()
  @Length(1, 256)
  @IsString()
  q?: string;

  @ApiPropertyOptional({
    enum: ['active', 'trash', 'all'],
    default: 'active',
    description: 'Whether those in the trash are left out, meant or included.',
  })
  @IsOptional()
  @IsIn(['active', 'trash', 'all'])
  state: 'active' | 'trash' | 'all' = 'active';

  @ApiPropertyOptional({ enum: SORTS, default: 'updated_at', description: '`position`: the manual order.' })
  @IsOptional()
  @IsIn(SORTS)
  @LowerCase()
  sort: (typeof SORTS)[number] = 'updated_at';

  @ApiPropertyOptional({
    enum: ['asc', 'desc'],
    description:
      'Default: newest or most urgent first; by date and position ascending, those without a date last.',
  })
  @IsOptional()
  @IsIn(['asc', 'desc'])
  order?: 'asc' | 'desc';
}
