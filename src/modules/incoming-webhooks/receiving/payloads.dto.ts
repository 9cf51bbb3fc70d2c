import { ApiProperty, IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray } from 'class-validator';
import { Flag, Nullable, Text } from '../../../platform/http/input.decorators.js';
import { CreateEvent } from '../../calendar/index.js';
import { CreateTask } from '../../tasks/index.js';

/** As of a chat message. */
export const MAX_TEXT = 32_000;
const MAX_PARTS = 100;

/** A text as Slack's incoming webhooks have it. Programs send an empty one beside blocks, attachments or a title. */
class TextPayload {
  @Nullable()
  @Text(MAX_TEXT, { required: false, example: 'Disk of *db1* is 91 % full' })
  text?: string | null;
}

const Parts = (description: string): PropertyDecorator => {
  const docs = {
    type: 'array',
    maxItems: MAX_PARTS,
    items: { type: 'object' },
    example: [],
    description,
  } as const;
  return (target, key) => {
    ApiProperty({ ...docs, required: false, nullable: true })(target, key);
    Nullable()(target, key);
    ArrayMaxSize(MAX_PARTS)(target, key);
    IsArray()(target, key);
  };
};

/** For a chat room: the payload of Slack's incoming webhooks. Other members of it are ignored. */
export class HookMessagePayload extends TextPayload {
  /** False: the text has no markup. Default: true. */
  @Nullable() @Flag({ required: false, example: true }) mrkdwn?: boolean | null;
  @Parts('Text of headers, sections and contexts; in place of `text`.') blocks?: unknown[] | null;
  @Parts('Text of attachments, below the message.') attachments?: unknown[] | null;
}

/** For a task folder. Without a title, the first line of `text` is the title and the rest is the description. */
export class HookTaskPayload extends IntersectionType(
  TextPayload,
  PartialType(
    PickType(CreateTask, ['title', 'date', 'time_zone', 'due_at', 'priority', 'group', 'labels'] as const),
  ),
) {
  /** HTML. */
  @Nullable() @Text(100_000, { required: false, example: '<p>See the dashboard</p>' }) description?:
    | string
    | null;
}

/** For a calendar. Without a title, the first line of `text` is the title and the rest is the description. */
export class HookEventPayload extends IntersectionType(
  TextPayload,
  PickType(CreateEvent, ['title', 'location', 'start', 'end', 'duration'] as const),
) {
  /** Plain text. */
  @Nullable() @Text(60_000, { required: false, example: 'Version 4.2' }) description?: string | null;
}

/** The members of all payloads; which ones count depends on the target. */
export class HookPayload extends IntersectionType(
  HookMessagePayload,
  PartialType(HookTaskPayload),
  PartialType(OmitType(HookEventPayload, ['text', 'title', 'description'])),
) {}

export class HookReceiptResponse {
  @ApiProperty({ enum: [true], example: true }) ok!: true;
  /** What was made. */
  @ApiProperty({ enum: ['message', 'task', 'event'], example: 'message' }) kind!:
    | 'message'
    | 'task'
    | 'event';
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) id!: string;
}
