import { Transform } from 'class-transformer';
import { IsBoolean, IsInt, IsObject, IsOptional, IsUUID, Max, Min } from 'class-validator';
import { EditMessage, MarkRead, React, SendMessage } from './messages.dto.js';

const LowerCase = () =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value));

/** `message.send` */
export class SocketSend extends SendMessage {
  @LowerCase()
  @IsUUID()
  room_id!: string;
}

/** `message.edit` */
export class SocketEdit extends EditMessage {
  @LowerCase()
  @IsUUID()
  room_id!: string;

  @LowerCase()
  @IsUUID()
  message_id!: string;
}

/** `message.react` */
export class SocketReact extends React {
  @LowerCase()
  @IsUUID()
  room_id!: string;

  @LowerCase()
  @IsUUID()
  message_id!: string;
}

/** `message.delete` */
export class SocketDelete {
  @LowerCase()
  @IsUUID()
  room_id!: string;

  @LowerCase()
  @IsUUID()
  message_id!: string;
}

/** `room.read` */
export class SocketRead extends MarkRead {
  @LowerCase()
  @IsUUID()
  room_id!: string;
}

/** `typing` */
export class SocketTyping {
  @LowerCase()
  @IsUUID()
  room_id!: string;

  @IsOptional()
  @IsBoolean()
  on: boolean = true;
}

/** `session.resume` */
export class Resume {
  /** Newest known `mod_seq` by room id. */
  @IsObject()
  rooms!: Record<string, number>;

  /** Messages of the response. */
  @IsOptional()
  @Max(200)
  @Min(1)
  @IsInt()
  limit: number = 200;
}
