import { Transform } from 'class-transformer';
import { Uuid } from '../../platform/http/input.decorators.js';

/** Ids in lower case, as PostgreSQL returns them. */
export const LowerCase = () =>
  Transform(({ value }: { value: unknown }) => {
    if (Array.isArray(value))
      return value.map((entry: unknown) => (typeof entry === 'string' ? entry.toLowerCase() : entry));
    return typeof value === 'string' ? value.toLowerCase() : value;
  });

/** An event about a room. */
export class SocketRoom {
  @LowerCase() @Uuid({ example: '01890a5d-ac96-774b-bcce-b302099a8057' }) room_id!: string;
}

/** An event about a message. */
export class SocketMessage extends SocketRoom {
  @LowerCase() @Uuid({ example: '01890a5d-ac96-774b-bcce-b302099a8057' }) message_id!: string;
}
