import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { FACTS, PublicEvents, publicEvents } from '../../../platform/events/public-events.js';
import { ChatMessageResponse } from '../chat.dto.js';

// Only members of the room read it.
const read = workspace.statement<{ place: number; message: string }>(
  'chat_messages.read_for_events',
  `SELECT wanted.place::int AS place, view.message
     FROM unnest($3::uuid[], $4::bigint[]) WITH ORDINALITY AS wanted (room_id, seq, place)
     JOIN chat_room_roles membership
       ON membership.tenant_id = $1 AND membership.room_id = wanted.room_id AND membership.user_id = $2
     JOIN chat_message_views view
       ON view.tenant_id = $1 AND view.room_id = wanted.room_id AND view.seq = wanted.seq`,
);

const room = workspace.statement<{ id: string }>(
  'chat_rooms.filters_events',
  `SELECT room_id AS id FROM chat_room_roles WHERE tenant_id = $1 AND user_id = $2 AND room_id = $3`,
);

/** Appended in workspaces with an interest in them only (`EventInterests`). */
const MESSAGE_EVENTS = publicEvents(
  {
    kind: 'message',
    object: ChatMessageResponse,
    facts: {
      room_id: FACTS.id,
      message_id: FACTS.id,
      seq: { type: 'integer', minimum: 1, example: 12 },
      actor_id: FACTS.user,
    },
    filters: ['room_id'],
    isFrequent: true,
  },
  {
    'chat.message.sent': 'A message was sent in a chat room, by a member or a guest.',
    'chat.message.edited': 'The text of a message was changed.',
    'chat.message.deleted': 'A message was deleted: it has no content.',
  },
);

/** The events of messages that programs of others receive: those of members of the room. */
@Injectable()
export class MessageEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.events.registerFilter(
      'room_id',
      async ({ tenantId, userId }, id) => (await this.db.query(room, [tenantId, userId, id])).length > 0,
    );
    this.events.register(MESSAGE_EVENTS, {
      many: async ({ tenantId, userId }, facts) => {
        const rooms = facts.map(({ room_id: id }) => id);
        const seqs = facts.map(({ seq }) => seq);
        const rows = await this.db.query(read, [tenantId, userId, rooms, seqs]);
        const found = new Map(rows.map(({ place, message }) => [place, message]));
        return facts.map((_, n) => found.get(n + 1));
      },
    });
  }
}
