import { Injectable, type OnModuleInit } from '@nestjs/common';
import { FACTS, PublicEvents, publicEvents } from '../../../platform/events/public-events.js';
import { CallResponse } from '../calls.dto.js';
import { CallsRepository } from '../calls.repository.js';
import { CALL_ENDED, CALL_STARTED } from '../model/call-events.js';

const CALL_EVENTS = publicEvents(
  {
    kind: 'call',
    object: CallResponse,
    facts: { call_id: FACTS.id, user_id: FACTS.user },
    filters: ['room_id'],
  },
  { [CALL_STARTED]: 'A call started.', [CALL_ENDED]: 'A call ended.' },
);

/** The events of calls that programs of others receive. */
@Injectable()
export class CallPublicEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly calls: CallsRepository,
  ) {}

  onModuleInit(): void {
    this.events.register(CALL_EVENTS, {
      one: async (ctx, { call_id: id }) => (await this.calls.read(ctx, id as string))?.call,
    });
  }
}
