import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { ChatChanges } from '../../../src/modules/chat/chat-changes.js';
import { QUOTAS } from '../../../src/platform/quotas/quotas.js';
import { MARKER, type GuestWorkspace } from '../../support/domains/guest-workspace.ts';
import { form } from '../../support/network/multipart.ts';

export const guestChatTests = (world: GuestWorkspace): void =>
  describe('the chat', () => {
    const { ok, rejected, browser, newRoom, say, invite, openLink, guestRow, newGuest, newCall } = world;
    test('shows a guest no ids of members, no system messages, nothing from before, and the files since', async () => {
      const room = await newRoom();
      await say(room, MARKER);
      const call = await newCall({ room });
      const gina = await newGuest(call);
      const body = form({ filename: 'figures.txt', content: 'one two' });
      const sent = await gina.api.request('POST', gina.path('chat/attachments'), {
        raw: body.raw,
        headers: { ...body.headers, 'x-guest-session': gina.session as string },
      });
      const { attachment } = ok(sent, 201);
      expect(attachment).toEqual({
        id: expect.any(String),
        name: 'figures.txt',
        size: 7,
        content_type: 'application/octet-stream',
      });
      const message = { client_msg_id: randomUUID(), body: '', attachment_ids: [attachment.id] };
      ok(await gina.post('chat/messages', message), 201);
      ok(await world.alice.api.post(`/chat/rooms/${room}/members`, { user_id: world.carol.id }), 201);
      const own = await say(room, 'for all of us');
      await world.alice.api.put(`/chat/rooms/${room}/messages/${own.id}/reactions`, { emoji: '👍' });
      const page = ok(await gina.get('chat/messages?limit=100'));
      expect(page.messages.map(({ body: text }: any) => text)).toEqual(['', 'for all of us']);
      const text = JSON.stringify(page);
      for (const secret of [
        MARKER,
        world.alice.id,
        world.bob.id,
        world.carol.id,
        world.alice.email,
        room,
        '/apis/v1',
      ])
        expect(text).not.toContain(secret);
      const file = await gina.get(`chat/attachments/${attachment.id}`);
      expect([file.status, file.text, file.headers.get('content-disposition')]).toEqual([
        200,
        'one two',
        expect.stringContaining('attachment'),
      ]);
      const download = await world.bob.api.get(`/chat/attachments/${attachment.id}`);
      expect(download.text).toBe('one two');
      rejected(await world.eve.api.get(`/chat/attachments/${attachment.id}`), 404, 'not_found');
    });

    test('a full room takes no further messages', async () => {
      const room = await newRoom();
      const gina = await newGuest(await newCall({ room }));
      const limit = QUOTAS.item.messages_of_chat_room;
      await world.app.sql('UPDATE chat_rooms SET last_seq = $2 WHERE id = $1', [room, limit]);
      const message = { client_msg_id: randomUUID(), body: 'one more' };
      const body = rejected(await gina.post('chat/messages', message), 409, 'quota_exceeded');
      expect(body).toMatchObject({ quota: 'messages_of_chat_room', scope: 'item', limit });
    });

    test('a repeated message is reported again: the process of the first request may have ended before its report', async () => {
      const gina = await newGuest(await newCall({ room: await newRoom() }));
      const changed = jest.spyOn(world.app.get(ChatChanges), 'reportChange');
      const input = { client_msg_id: randomUUID(), body: 'hello' };
      const { message } = ok(await gina.post('chat/messages', input), 201);
      expect(ok(await gina.post('chat/messages', input), 200).message).toEqual(message);
      const reports = changed.mock.calls.map(([, , room, modSeq]) => [room, modSeq]);
      changed.mockRestore();
      expect(reports).toHaveLength(2);
      expect(reports[1]).toEqual(reports[0]);
    });

    test('pages go forward and backward', async () => {
      const room = await newRoom();
      const gina = await newGuest(await newCall({ room }));
      const seqs: number[] = [];
      for (let n = 0; n < 5; n += 1) seqs.push((await say(room, `m${n}`)).seq);
      const list = async (query: string) => {
        const page = ok(await gina.get(`chat/messages?${query}`));
        return [page.messages.map(({ seq }: any) => seq), page.has_more];
      };
      expect(await list('limit=2')).toEqual([seqs.slice(3), true]);
      expect(await list(`limit=2&before_seq=${seqs[3]}`)).toEqual([seqs.slice(1, 3), true]);
      expect(await list(`limit=2&after_seq=${seqs[2]}`)).toEqual([seqs.slice(3), false]);
      expect(await list('after_seq=0&limit=100')).toEqual([seqs, false]);
      rejected(await gina.get('chat/messages?after_seq=1&before_seq=2'), 422, 'validation_failed');
    });

    test('the quota of files is exact; a body has 4,000 characters; a chat that the invite excludes is closed', async () => {
      const room = await newRoom();
      const call = await newCall({ room });
      const gina = await newGuest(call);
      await world.app.sql(`UPDATE guests SET upload_bytes = 50 * 1024 * 1024 - 10 WHERE id = $1`, [gina.id]);
      const send = (content: string) => {
        const body = form({ filename: 'a.txt', content });
        const headers = { ...body.headers, 'x-guest-session': gina.session as string };
        return gina.api.request('POST', gina.path('chat/attachments'), { raw: body.raw, headers });
      };
      const all = await Promise.all(['12345678', '12345678', '12345678'].map(send));
      expect(all.map(({ status }) => status).toSorted()).toEqual([201, 413, 413]);
      const post = (body: string) => gina.post('chat/messages', { client_msg_id: randomUUID(), body });
      ok(await post('😀'.repeat(4000)), 201);
      rejected(await post('x'.repeat(4001)), 422, 'validation_failed');
      const silent = browser((await openLink(call, { chat_allowed: false })).token);
      ok(await silent.claim({ name: 'Gina' }), 201);
      rejected(await silent.get('chat/messages'), 403, 'chat_not_allowed');
    });

    test('a chat link opens the chat and not the call; a new link replaces it', async () => {
      const room = await newRoom();
      const call = await newCall({ room });
      const made = await openLink(call);
      const path = `/call/external_invites/${made.id}/chat_link`;
      const { chat_link } = ok(await world.alice.api.post(path), 201);
      expect(chat_link).toMatchObject({
        room_id: room,
        token: expect.any(String),
        expires_at: made.expires_at,
      });
      const gina = browser(chat_link.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      ok(await gina.get('chat/messages'));
      rejected(await gina.post('call_session'), 403, 'chat_only');
      ok(await world.alice.api.post(path), 201);
      rejected(await gina.get('chat/messages'), 404, 'invite_not_found');
      ok(await world.alice.api.delete(path));
      expect(ok(await world.alice.api.get(`/call/external_invites/${made.id}`)).invite.has_chat_link).toBe(
        false,
      );
      const roomless = await openLink(await newCall());
      rejected(
        await world.alice.api.post(`/call/external_invites/${roomless.id}/chat_link`),
        422,
        'no_chat_room',
      );
    });

    test('the permission to review guests opens no chat of others', async () => {
      const body = { type: 'group', name: 'Without Alice', member_ids: [world.carol.id] };
      const { room } = ok(await world.bob.api.post('/chat/rooms', body), 201);
      const call = await newCall({ room: room.id }, world.bob);
      const made = await invite(call, { kind: 'link' }, world.bob);
      const path = `/call/external_invites/${made.id}`;
      expect(ok(await world.alice.api.get(path)).invite.id).toBe(made.id);
      rejected(await world.alice.api.post(`${path}/chat_link`), 404, 'not_found');
      expect(ok(await world.alice.api.get(path)).invite.has_chat_link).toBe(false);
      ok(await world.bob.api.post(`${path}/chat_link`), 201);
      ok(await world.alice.api.delete(`${path}/chat_link`));
    });

    test('invites to a room: by moderators, for its chat and its live call', async () => {
      const room = await newRoom();
      const path = `/chat/rooms/${room}/external_invites`;
      rejected(await world.bob.api.post(path, { kind: 'link' }), 403, 'forbidden');
      rejected(await world.carol.api.post(path, { kind: 'link' }), 404, 'not_found');
      rejected(await world.eve.api.post(path, { kind: 'link' }), 404, 'not_found');
      const [made] = ok(
        await world.alice.api.post(path, { kind: 'link', require_approval: false }),
        201,
      ).invites;
      expect(made.target).toEqual({ kind: 'chat_room', id: room });
      expect(ok(await world.alice.api.get(path)).invites.map(({ id }: any) => id)).toEqual([made.id]);
      expect(
        ok(await world.alice.api.get('/call/external_invites?limit=200')).invites.map(({ id }: any) => id),
      ).not.toContain(made.id);
      rejected(await world.carol.api.get(path), 404, 'not_found');
      const gina = browser(made.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      ok(await gina.post('chat/messages', { client_msg_id: randomUUID(), body: 'hello' }), 201);
      rejected(await gina.post('call_session'), 409, 'call_not_live');
      const call = await newCall({ room });
      ok(await gina.post('call_session'));
      expect((await guestRow(gina.id as string)).call_id).toBe(call);
      const direct = { type: 'direct', member_ids: [world.bob.id] };
      const { room: pair } = ok(await world.alice.api.post('/chat/rooms', direct), 201);
      rejected(
        await world.alice.api.post(`/chat/rooms/${pair.id}/external_invites`, { kind: 'link' }),
        422,
        'direct_room',
      );
      ok(await world.alice.api.put(`/chat/rooms/${room}`, { archived: true }));
      rejected(await world.alice.api.post(path, { kind: 'link' }), 409, 'room_archived');
    });
  });
