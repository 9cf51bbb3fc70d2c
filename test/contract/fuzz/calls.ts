import type { TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { GuestBrowser } from '../../support/domains/guests.ts';

const CALLS = 4;
const GUESTS = 3;

const created = ({ status, body }: ApiResponse): any => {
  if (status !== 201) throw new Error(`the fuzz workspace: ${status} ${JSON.stringify(body)}`);
  return body;
};

/** Calls with recordings, invites and guests, a livestream, and a chat room with guests. */
export async function makeCalls(app: TestApp, owner: TestUser, member: TestUser) {
  const group = { type: 'group', name: 'With guests', member_ids: [member.id] };
  const room = created(await owner.api.post('/chat/rooms', group)).room.id;
  // The first call uses the chat of the room.
  const calls = [created(await owner.api.post('/call/rooms', { room_id: room })).room.id];
  for (let n = 1; n < CALLS; n += 1) {
    const title = `Call ${n}`;
    calls.push(created(await owner.api.post('/call/rooms', { title, member_ids: [member.id] })).room.id);
  }
  const recordings = [];
  for (const call of calls.slice(0, 2)) {
    await owner.api.post(`/call/tokens/${call}/mint`);
    const { body } = await owner.api.post(`/call/${call}/recordings`);
    if (body.recording) recordings.push(body.recording.id);
  }
  const stream = created(await owner.api.post('/call/rooms', { title: 'Stream', kind: 'livestream' })).room
    .id;

  const link = async (path: string, fields: object) =>
    created(await owner.api.post(path, { kind: 'link', ...fields })).invites[0];
  const claim = async (token: string) => {
    const guest = new GuestBrowser(app.anonymous, token);
    created(await guest.claim({ name: 'Gina' }));
    return guest;
  };
  const admitted = await link('/call/external_invites', { call_id: calls[0], require_approval: false });
  const waiting = await link('/call/external_invites', { call_id: calls[1], require_approval: true });
  const viewers = await link('/call/external_invites', { call_id: stream, role: 'viewer' });
  const roomPath = `/chat/rooms/${room}/external_invites`;
  const ofRoom = [await link(roomPath, { require_approval: true }), await link(roomPath, {})];
  // All guests come from one network, and are more than its limits allow.
  await app.sql('DELETE FROM rate_limits');
  await app.sql('DELETE FROM guest_limits');
  const guests: GuestBrowser[] = [];
  const applicants: GuestBrowser[] = [];
  const roomApplicants: GuestBrowser[] = [];
  for (let n = 0; n < GUESTS; n += 1) {
    guests.push(await claim(admitted.token));
    applicants.push(await claim(waiting.token));
    roomApplicants.push(await claim(ofRoom[0].token));
  }
  const idsOf = (browsers: GuestBrowser[]) => browsers.map(({ id }) => id!);
  return {
    ids: {
      // The first two calls have guests, so they are listed twice.
      call: [...calls, calls[0], calls[1]] as string[],
      tokens: [...calls, room] as string[],
      'call recordings': recordings as string[],
      'call external_invites': [admitted.id, waiting.id, viewers.id] as string[],
      'call approvals': idsOf(applicants),
      'call participants': idsOf(guests),
      external: [admitted.token, admitted.token, admitted.token, viewers.token] as string[],
      'chat external_invites': ofRoom.map(({ id }) => id as string),
      'chat approvals': idsOf(roomApplicants),
    },
    room: room as string,
    guestSessions: guests.map(({ session }) => session!),
  };
}
