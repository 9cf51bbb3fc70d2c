import type { INestApplication } from '@nestjs/common';
import { CallsApi } from '../modules/calls/index.js';
import type { DemoClients } from './demo-content.js';
import { CALL, GUEST_LINK } from './data/rooms.js';

/**
 * Creates the history of a call, and an invite with a guest who waits for approval. The routes of calls need a media server,
 * which the demo does not have.
 */
export async function createCalls(
  app: INestApplication,
  tenantId: string,
  { alice }: DemoClients,
): Promise<void> {
  const { rooms } = await alice.call<{ rooms: { id: string; name: string }[] }>('GET', '/chat/rooms');
  const room = rooms.find(({ name }) => name === CALL.room);
  if (!room) throw new Error(`the demo has no room ${CALL.room}`);
  const { title, minutes } = CALL;
  const ctx = { tenantId, userId: alice.id };
  await app.get(CallsApi).recordPast(ctx, { roomId: room.id, title, minutes });
  const path = `/chat/rooms/${room.id}/external_invites`;
  const { invites } = await alice.post<{ invites: { token: string }[] }>(path, GUEST_LINK.invite);
  await alice.post(`/call/external/${invites[0]?.token}/claim`, GUEST_LINK.claim);
}
