import { RealtimeOptions } from '../../src/platform/realtime/connection.js';
import { UserConnections } from '../../src/platform/realtime/user-connections.js';
import { type TestUser, TestApp } from '../support/app.ts';
import { ChatFuzzer, type ChatUser } from './fuzzer.ts';

/** The short run; `npm run fuzz:realtime` runs it for as long as you like, on processes that are killed. */
describe('chat, at random', () => {
  const ROUNDS = 4;
  let one: TestApp;
  let two: TestApp;

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
    for (const app of [one, two])
      Object.assign(app.get(RealtimeOptions), { burst: 10_000, perSecond: 10_000 });
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const user = ({ id, token }: TestUser): ChatUser => ({ id, token });

  test.each(['1', '2'])('seed %s', async (seed) => {
    const users = (await one.tenant(`chat-${seed}`, 'alice', 'bob', 'carol')).map(user);
    const end = (pattern: string) =>
      one.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name LIKE $1 AND datname = current_database() AND pid <> pg_backend_pid()`,
        [pattern],
      );
    const disturbances = {
      'bus lost': () => end('workspace bus'),
      'connections lost': () => end('workspace%'),
      'sockets closed': async () => {
        for (const connection of two.get(UserConnections).all) connection.close('restart');
      },
    };
    const fuzzer = new ChatFuzzer(
      { bases: [one.base, two.base], users, disturbances },
      { seed, actionsPerRound: 60, goOn: (rounds) => rounds < ROUNDS },
    );
    await fuzzer.run();
    expect(fuzzer.counts.get('comparisons')).toBe(ROUNDS * 6);
  });
});
