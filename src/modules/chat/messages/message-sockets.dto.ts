import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import { IsObject, IsOptional } from 'class-validator';
import { Flag, IntegerFrom } from '../../../platform/http/input.decorators.js';
import { SocketMessage, SocketRoom } from '../socket-room.dto.js';
import { EditMessage, MarkRead, React, SendMessage } from './messages.dto.js';

/** `message.send` */
export class SocketSend extends IntersectionType(SocketRoom, SendMessage) {}

/** `message.edit` */
export class SocketEdit extends IntersectionType(SocketMessage, EditMessage) {}

/** `message.react` */
export class SocketReact extends IntersectionType(SocketMessage, React) {}

/** `message.delete` */
export class SocketDelete extends SocketMessage {}

/** `room.read` */
export class SocketRead extends IntersectionType(SocketRoom, MarkRead) {}

/** `typing` */
export class SocketTyping extends SocketRoom {
  @IsOptional() @Flag({ example: true, required: false }) on: boolean = true;
}

/** `session.resume` */
export class Resume {
  /** Newest known `mod_seq` by room id. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0 },
    example: { '01890a5d-ac96-774b-bcce-b302099a8057': 41 },
  })
  @IsObject()
  rooms!: Record<string, number>;

  /** Messages of the response. */
  @IsOptional() @IntegerFrom(1, 200, { example: 200, required: false }) limit: number = 200;
}
