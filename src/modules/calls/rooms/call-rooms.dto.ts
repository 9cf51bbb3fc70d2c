import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsObject, IsUUID, ValidateNested } from 'class-validator';
import {
  Distinct,
  Flag,
  Name,
  OneOf,
  Optional,
  Time,
  Uuid,
} from '../../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { CALL_KINDS, type CallKind } from '../calls.schema.js';

const MAX_TITLE = 200;
const MAX_MEMBERS = 100;

export class CallSettings {
  /** Guests wait for approval. */
  @Optional() @Flag({ default: true }) lobby?: boolean;
  /** Guests prove their address by a code. */
  @Optional() @Flag({ default: true }) otp?: boolean;
  /** Guests may use the chat. */
  @Optional() @Flag({ default: true }) guest_chat?: boolean;
  /** The recording starts with the first participant. Needs the permission `calls.record`, also at that time. */
  @Optional() @Flag({ default: false }) auto_record?: boolean;
}

export class CreateCallRoom {
  /** The chat room whose members may join. Without it, the call has members of its own. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) room_id?: string;
  /** Default: the name of the room. */
  @Optional() @Name(MAX_TITLE, { example: 'Offsite 2027' }) title?: string;
  /** In a livestream the host and moderators send, all others receive. */
  @Optional() @OneOf(CALL_KINDS, { required: false, example: 'meeting' }) kind: CallKind = 'meeting';

  /** A later time: the call starts when the first member joins. Default: it is live now. */
  @Optional()
  @Time({
    message: 'scheduled_at must be a time in the format of RFC 3339',
    example: '2026-12-01T09:00:00.000Z',
  })
  scheduled_at?: Date;

  @ApiPropertyOptional({ type: CallSettings, example: { lobby: true } })
  @Optional()
  @Type(() => CallSettings)
  @ValidateNested()
  @IsObject()
  settings?: CallSettings;

  /** Users who may join a call without a room, besides you. */
  @ApiPropertyOptional({ type: [String], format: 'uuid', maxItems: MAX_MEMBERS, example: [] })
  @Optional()
  @Distinct()
  @ArrayMaxSize(MAX_MEMBERS)
  @IsUUID(undefined, { each: true })
  @IsArray()
  member_ids?: string[];

  /** An id of your choice: a repeated request with it returns the same call. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) client_id?: string;
}
