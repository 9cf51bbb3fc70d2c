import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PublicEvents } from '../../../platform/events/public-events.js';
import { NO_UUID, UUID } from '../../../platform/field-docs/field-docs.js';
import { CallResponse } from '../call.response.js';
import { CallsRepository } from '../calls.repository.js';
import { CALL_ENDED, CALL_STARTED } from '../model/call-events.js';

/** The events of calls that programs of others receive. */
@Injectable()
export class CallPublicEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly calls: CallsRepository,
  ) {}

  onModuleInit(): void {
    this.events.register(
      {
        kind: 'call',
        object: CallResponse,
        facts: {
          call_id: { type: 'string', ...UUID },
          user_id: { type: ['string', 'null'], ...NO_UUID },
        },
        filters: ['room_id'],
        read: async (ctx, { call_id: id }) => (await this.calls.read(ctx, id as string))?.call,
      },
      { [CALL_STARTED]: 'A call started.', [CALL_ENDED]: 'A call ended.' },
    );
  }
}
