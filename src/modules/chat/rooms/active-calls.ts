import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Reader } from '../../../platform/database/tx.js';

/** JSON of the live call of a room; null without one. */
type ActiveCallSource = (reader: Reader, ctx: RequestContext, roomId: string) => Promise<string | null>;

/** The live calls of rooms. The domain of calls registers their source, because it imports this one. */
@Injectable()
export class ActiveCalls {
  private source: ActiveCallSource = async () => null;

  register(source: ActiveCallSource): void {
    this.source = source;
  }

  async of(reader: Reader, ctx: RequestContext, roomId: string): Promise<string | null> {
    return this.source(reader, ctx, roomId);
  }
}
