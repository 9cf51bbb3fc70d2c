import { randomUUID } from 'node:crypto';
import { TestApp, type TestUser } from '../../support/app.ts';
import { type ApiResponse, Client } from '../../support/network/client.ts';
import { codeOf, GuestBrowser } from '../../support/domains/guests.ts';
import { LiveKit } from '../../support/livekit/livekit.ts';
import { OtherServer } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';
import { cleanUp, freePort, type Running, startNode } from '../../runtime/support/processes.ts';

const GINA = 'gina@partner.example';

/** A server process of its own on the database of a TestApp. Its processes are killed and started again. */
describe('guests and the end of the process', () => {
  let app: TestApp;
  let livekit: LiveKit;
  let relay: OtherServer;
  let alice: TestUser;
  let settings: Record<string, string>;
  const processes: Running[] = [];

  beforeAll(async () => {
    [livekit, relay] = await Promise.all([LiveKit.start(), OtherServer.start()]);
    const common = { ...livekit.settings, SMTP_URL: relay.url };
    app = await TestApp.start(common);
    [alice] = await app.tenant('acme', 'alice');
    const ports = { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
    const { databaseUrl: DATABASE_URL, dataDir: DATA_DIR } = app;
    settings = { ...common, ...ports, DATABASE_URL, DATA_DIR, DEMO: 'false', LOG_LEVEL: 'trace' };
    livekit.webhooks.targets.push(`http://127.0.0.1:${ports.PORT}`);
  });
  afterAll(async () => {
    await cleanUp();
    await app?.stop();
    await livekit?.stop();
    await relay?.stop();
  });

  const ok = (response: ApiResponse, status = 200): any => {
    expect({ status: response.status, body: response.body }).toMatchObject({ status });
    return response.body;
  };
  const base = () => `http://127.0.0.1:${settings['PORT']}`;
  const anonymous = () => new Client(base(), null);
  const host = () => new Client(base(), alice.token);
  const isReady = () =>
    anonymous()
      .get('/health/ready')
      .then(
        ({ status }) => status === 200,
        () => false,
      );
  const start = async (): Promise<Running> => {
    const running = startNode('dist/main.js', [], settings);
    processes.push(running);
    await until('the server', isReady);
    return running;
  };
  const kill = async ({ child, exit }: Running): Promise<void> => {
    child.kill('SIGKILL');
    expect(await exit).toBe('SIGKILL');
    await expect(anonymous().get('/health/live')).rejects.toThrow();
  };

  test('the queue survives a killed process, a restart admits no guest, and no log contains a token', async () => {
    let server = await start();
    const room = ok(await host().post('/chat/rooms', { type: 'group', name: 'Offsite' }), 201).room.id;
    const call = ok(await host().post('/call/rooms', { room_id: room }), 201).room.id as string;
    const body = { call_id: call, emails: [GINA], send_email: false };
    const invite = ok(await host().post('/call/external_invites', body), 201).invites[0];
    const gina = new GuestBrowser(anonymous(), invite.token);
    ok(await gina.post('otp', { email: GINA }), 202);
    const code = await codeOf(app, relay, GINA);
    ok(await gina.claim({ name: 'Gina', email: GINA, code }), 201);
    ok(await gina.post('call_session'), 202);

    await kill(server);
    server = await start();
    expect(ok(await gina.get('status')).guest).toMatchObject({ id: gina.id, state: 'waiting' });
    expect(ok(await gina.post('call_session'), 202)).toMatchObject({ state: 'waiting' });
    const { approvals } = ok(await host().get('/call/external_invites/approvals'));
    expect(approvals).toMatchObject([{ id: gina.id, state: 'waiting', guest: { email: GINA } }]);
    // The arrival of the host admits no waiting guest.
    const mine = ok(await host().post(`/call/tokens/${call}/mint`)).token as string;
    await livekit.join(mine);
    ok(await gina.post('call_session'), 202);
    const review = { decision: 'approve' };
    ok(await host().post(`/call/external_invites/approvals/${gina.id}/review`, review));

    const media = ok(await gina.post('call_session')).token as string;
    const connection = await livekit.join(media);
    await livekit.webhooks.settled();
    const link = ok(await host().post(`/call/external_invites/${invite.id}/chat_link`), 201).chat_link.token;
    ok(await new GuestBrowser(anonymous(), link).get('status'));
    ok(await gina.post('chat/messages', { client_msg_id: randomUUID(), body: 'hello' }), 201);
    const secrets = [
      invite.token,
      gina.session,
      gina.guestToken,
      code,
      media,
      mine,
      link,
      connection.freshToken,
    ];
    ok(await gina.renew());
    secrets.push(gina.session, gina.guestToken);
    const { recording } = ok(await host().post(`/call/${call}/recordings`), 201);
    await livekit.complete(livekit.egressOf(connection.room).egressId);
    await livekit.webhooks.settled();
    const ready = await until('the recording', async () => {
      const { recordings } = ok(await host().get('/meetings/recordings'));
      return recordings.find((each: any) => each.id === recording.id && each.url !== null);
    });
    ok(await anonymous().get(ready.url.replace('/apis/v1', '')));
    secrets.push(ready.url.split('/').at(-1));

    // Rejected, invalid and failing requests, too.
    const wrong = new GuestBrowser(anonymous(), `${invite.token}x`);
    expect((await wrong.get('status')).status).toBe(404);
    expect((await wrong.get(`status?token=${invite.token}`)).status).toBe(404);
    expect((await gina.api.get(`/call/external/${invite.token}/unknown`)).status).toBe(404);
    expect((await gina.post('claim', { name: 'x', code, email: invite.token })).status).toBe(422);
    await app.sql('ALTER TABLE guests RENAME COLUMN session_hash TO elsewhere');
    const failed = await gina.post('call_session');
    await app.sql('ALTER TABLE guests RENAME COLUMN elsewhere TO session_hash');
    expect(failed.status).toBe(500);

    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    const logs = processes.map(({ stdout, stderr }) => stdout() + stderr()).join('');
    expect(logs).toContain('/apis/v1/call/external/');
    const leaks = logs
      .split('\n')
      .filter((line) => secrets.some((secret) => line.includes(secret as string)));
    expect(leaks).toEqual([]);
  });
});
