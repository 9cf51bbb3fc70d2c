import { RealtimeOptions } from '../../src/platform/realtime/connection.js';
import { MovingSite } from '../support/installation/moving-site.ts';
import { ChatFuzzer } from './fuzzer.ts';

/** Chat over sockets of two processes while the workspace moves between two databases: its connections stay open. */
describe('chat at random, of a workspace that moves', () => {
  const ROUNDS = 4;
  /** On a busy machine a move takes longer than some rounds. */
  const MAX_ROUNDS = 20;
  let site: MovingSite;

  beforeAll(async () => {
    site = await MovingSite.start();
    for (const app of [site.first, site.second])
      Object.assign(app.get(RealtimeOptions), { burst: 10_000, perSecond: 10_000 });
  });
  afterAll(() => site?.stop());

  test('loses no message and no change', async () => {
    const users = await site.first.tenant('chat', 'alice', 'bob', 'carol');
    let played = 0;
    const moves = (): number => fuzzer.counts.get('workspace moved') ?? 0;
    const fuzzer = new ChatFuzzer(
      {
        bases: [site.first.base, site.second.base],
        users: users.map(({ id, token }) => ({ id, token })),
        disturbances: { 'workspace moved': () => site.move(users[0].tenantId!) },
      },
      {
        seed: '1',
        actionsPerRound: 60,
        goOn: (rounds) => {
          played = rounds;
          return rounds < ROUNDS || (moves() < 2 && rounds < MAX_ROUNDS);
        },
      },
    );
    await fuzzer.run();
    expect(fuzzer.counts.get('comparisons')).toBe(played * 6);
    expect(played).toBeGreaterThanOrEqual(ROUNDS);
    expect(moves()).toBeGreaterThan(1);
  });
});
