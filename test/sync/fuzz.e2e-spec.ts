import { TrashPurge } from '../../src/modules/notes/trash-purge.js';
import { FeedRetention } from '../../src/platform/sync/feed-retention.js';
import { type Person, TestApp } from '../support/app.ts';
import { fuzz } from './fuzzer.ts';
import type { User } from './world.ts';

/** The short run; `npm run fuzz:sync` runs it for as long as you like, on processes that crash. */
describe('synchronisation, at random', () => {
  const ROUNDS = 3;
  let first: TestApp;
  let second: TestApp;

  beforeAll(async () => {
    first = await TestApp.start();
    second = await TestApp.start({}, first.databaseUrl);
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
  });

  const user = ({ id, email, tenantId, token }: Person): User => ({
    id,
    email,
    name: email.split('@')[0] as string,
    tenantId: tenantId as string,
    token,
  });

  test.each(['1', '2', '3'])('seed %s', async (seed) => {
    const users = (await first.tenant(`fuzz-${seed}`, 'alice', 'bob', 'carol')).map(user);
    const [canary] = (await first.tenant(`other-${seed}`, 'canary')).map(user) as [User];
    const site = {
      databaseUrl: first.databaseUrl,
      bases: [first.base, second.base],
      users,
      canary,
      forget: (before: Date) => first.get(FeedRetention).forget(before),
      purgeTrash: () => second.get(TrashPurge).purge(),
    };
    const plan = { seed, performers: 10, actionsPerRound: 250, goOn: (rounds: number) => rounds < ROUNDS };
    const { rounds, counts, failure } = await fuzz(site, plan);
    // Thrown as it is: its lines are to be read.
    if (failure !== undefined) throw new Error(failure);
    expect(rounds).toBe(ROUNDS);
    // It would prove nothing if it did nothing.
    for (const [what, least] of Object.entries({
      '410s': 3,
      walks: 10,
      removals: 20,
      'records compared': 40,
      'revisions compared': 40,
    }))
      expect([what, (counts[what] ?? 0) >= least]).toEqual([what, true]);
  });
});
