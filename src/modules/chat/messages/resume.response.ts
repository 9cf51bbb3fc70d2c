import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { ChatMessageResponse } from '../message.response.js';

/** The changes of one room after a position. */
export class ResumedRoomResponse {
  /** In the order of `mod_seq`. */
  @ApiProperty({ type: [ChatMessageResponse], example: [] }) messages!: ChatMessageResponse[];
  /** The position of the client after it has applied the messages. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 43 }) mod_seq!: number;
  /** There are further changes: resume again with this `mod_seq`. */
  @ApiProperty({ example: false }) more!: boolean;
}

@ApiExtraModels(ResumedRoomResponse)
export class ResumedResponse {
  /** Rooms with changes, by id. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(ResumedRoomResponse) },
    example: { [EXAMPLE_ID]: { messages: [], mod_seq: 43, more: false } },
  })
  rooms!: Record<string, ResumedRoomResponse>;
  /** Ids of your rooms that the request did not name. */
  @ApiProperty({ type: [String], format: 'uuid', example: [] }) added!: string[];
  /** Ids of named rooms that you cannot read. */
  @ApiProperty({ type: [String], format: 'uuid', example: [] }) removed!: string[];
  /** Number of unread messages by room id. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer' }, example: { [EXAMPLE_ID]: 2 } })
  unread!: Record<string, number>;
}
