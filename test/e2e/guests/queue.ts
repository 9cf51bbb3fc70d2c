import { jest } from '@jest/globals';
import { Notifications } from '../../../src/platform/notifications/notifications.js';
import type { TestUser } from '../../support/app.ts';
import type { GuestBrowser } from '../../support/domains/guests.ts';
import { type GuestWorkspace } from '../../support/domains/guest-workspace.ts';
import { TestSocket } from '../../support/network/socket.ts';

export const queueTests = (world: GuestWorkspace): void =>
  describe('the queue', () => {
    const {
      ok,
      rejected,
      browser,
      newRoom,
      invite,
      review,
      runJob,
      guestRow,
      newCall,
      newGuest,
      waitingGuest,
      drain,
    } = world;
    test('a denied guest requests again after 60 seconds, three times in total', async () => {
      const gina = await waitingGuest(await newCall());
      for (const n of [1, 2, 3]) {
        ok(await review(gina.id as string, 'deny', world.alice, { reason: 'not today' }));
        rejected(await gina.post('call_session'), 403, 'guest_denied');
        await world.app.sql(
          `UPDATE guests SET decided_at = decided_at - interval '61 seconds' WHERE id = $1`,
          [gina.id],
        );
        if (n < 3) ok(await gina.post('call_session'), 202);
        else rejected(await gina.post('call_session'), 403, 'guest_denied');
      }
    });

    test('a guest who requests again is reported to the hosts, also after a failure', async () => {
      const gina = await waitingGuest(await newCall());
      ok(await review(gina.id as string, 'deny'));
      await drain();
      await world.app.sql('DELETE FROM notifications');
      await world.app.sql(`UPDATE guests SET decided_at = decided_at - interval '61 seconds' WHERE id = $1`, [
        gina.id,
      ]);
      const notifications = world.app.get(Notifications);
      jest.spyOn(notifications, 'notify').mockRejectedValueOnce(new Error('no connection'));
      rejected(await gina.post('call_session'), 500, 'internal_error');
      ok(await gina.post('call_session'), 202);
      await drain();
      const { notifications: shown } = ok(await world.alice.api.get('/notifications'));
      expect(shown.map(({ type }: any) => type)).toEqual(['guest.waiting']);
    });

    test('a remembered denial is final', async () => {
      const gina = await waitingGuest(await newCall());
      ok(await review(gina.id as string, 'deny', world.alice, { remember: true }));
      await world.app.sql(`UPDATE guests SET decided_at = decided_at - interval '61 seconds' WHERE id = $1`, [
        gina.id,
      ]);
      rejected(await gina.post('call_session'), 403, 'guest_denied');
    });

    test('no guest is admitted without a decision; ten minutes without a request end the wait', async () => {
      const call = await newCall();
      const gina = await waitingGuest(call);
      await runJob('guests.time-out');
      ok(await gina.post('call_session'), 202);
      await world.app.sql(`UPDATE guests SET active_at = now() - interval '9 minutes' WHERE id = $1`, [
        gina.id,
      ]);
      expect(ok(await gina.get('status')).guest).toMatchObject({ state: 'waiting' });
      await runJob('guests.time-out');
      expect(ok(await gina.get('status')).guest).toMatchObject({ state: 'waiting' });
      await world.app.sql(`UPDATE guests SET active_at = now() - interval '11 minutes' WHERE id = $1`, [
        gina.id,
      ]);
      await runJob('guests.time-out');
      expect(ok(await gina.get('status')).guest).toMatchObject({ state: 'expired' });
      rejected(await review(gina.id as string, 'approve'), 409, 'already_reviewed');
      ok(await gina.post('call_session'), 202);
      ok(await review(gina.id as string, 'approve'));
      ok(await gina.post('call_session'));
      await world.app.sql(`UPDATE guests SET active_at = now() - interval '16 minutes' WHERE id = $1`, [
        gina.id,
      ]);
      await runJob('guests.time-out');
      expect((await guestRow(gina.id as string)).state).toBe('left');
      ok(await gina.post('call_session'));
    });

    test('sockets of hosts are told of guests who leave or join the queue without a decision', async () => {
      const call = await newCall();
      const made = await invite(call, { kind: 'link' });
      const gina = browser(made.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      const hugo = await waitingGuest(call);
      const ida = await newGuest(call, 'Ida');
      const socket = await TestSocket.open(world.app, world.alice);
      const updated = ({ id }: GuestBrowser, state: string) =>
        socket.next('guest.updated', ({ approval }) => approval.id === id && approval.state === state);
      ok(await world.alice.api.delete(`/call/external_invites/${made.id}`));
      await updated(gina, 'removed');
      ok(await world.alice.api.post(`/call/${call}/external/participants/${hugo.id}/remove`));
      await updated(hugo, 'removed');
      ok(await world.alice.api.post(`/call/${call}/external/lock`, { eject: true }));
      await updated(ida, 'waiting');
      socket.close();
    });

    test('two hosts who decide concurrently: one decision counts', async () => {
      const room = await newRoom();
      ok(
        await world.alice.api.post(`/chat/rooms/${room}/members`, {
          user_id: world.bob.id,
          role: 'moderator',
        }),
        201,
      );
      const call = await newCall({ room });
      for (let round = 0; round < 5; round += 1) {
        const gina = await waitingGuest(call);
        const results = await Promise.all([
          review(gina.id as string, 'approve', world.alice),
          review(gina.id as string, 'deny', world.bob),
        ]);
        expect(results.map(({ status }) => status).toSorted()).toEqual([200, 409]);
        const winner = results.find(({ status }) => status === 200)!.body.approval.state;
        expect(ok(await gina.get('status')).guest.state).toBe(winner === 'approved' ? 'admitted' : 'denied');
      }
    });

    test('notifications are for users who decide about guests and domains, as long as they do', async () => {
      const room = await newRoom();
      const setRole = async (role: string) =>
        ok(await world.alice.api.post(`/chat/rooms/${room}/members`, { user_id: world.bob.id, role }), 201);
      const shown = async () =>
        ok(await world.bob.api.get('/notifications?limit=200')).notifications.filter(({ type }: any) =>
          ['guest.waiting', 'domain.requested'].includes(type),
        );
      await setRole('moderator');
      await drain();
      await world.app.sql('DELETE FROM notifications');
      await waitingGuest(await newCall({ room }));
      await drain();
      expect(await shown()).toMatchObject([
        { title: 'Gina waits to be admitted', data: { room_id: room }, subject: { title: 'Gina' } },
      ]);
      await setRole('member');
      expect(await shown()).toEqual([]);

      await world.app.sql('DELETE FROM notifications');
      const groups = ok(await world.alice.api.get('/rbac/groups')).groups;
      const { id } = groups.find(({ key }: any) => key === 'admins');
      ok(await world.alice.api.post(`/rbac/groups/${id}/members`, { user_id: world.bob.id }), 201);
      ok(
        await world.carol.api.post('/call/external_invites/domain_request', { domain: 'supplier.com' }),
        201,
      );
      await drain();
      expect(await shown()).toMatchObject([
        { title: 'Carol requests that guests of supplier.com are allowed' },
      ]);
      ok(await world.alice.api.delete(`/rbac/groups/${id}/members/${world.bob.id}`));
      expect(await shown()).toEqual([]);
    });

    test('the list contains the guests of own calls, and all with the permission', async () => {
      const call = await newCall({}, world.bob);
      const gina = browser((await invite(call, { kind: 'link' }, world.bob)).token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      const of = async (user: TestUser, query = '') =>
        ok(await user.api.get(`/call/external_invites/approvals?call_id=${call}${query}`)).approvals.map(
          ({ id }: any) => id,
        );
      expect(await of(world.bob)).toEqual([gina.id]);
      expect(await of(world.alice)).toEqual([gina.id]);
      expect(await of(world.carol)).toEqual([]);
      expect(await of(world.eve)).toEqual([]);
      expect(await of(world.bob, '&state=approved')).toEqual([]);
    });
  });
