import { CalendarHousekeeping } from '../../../src/modules/calendar/calendar-housekeeping.js';
import { TrashPurge } from '../../../src/modules/notes/trash-purge.js';
import { TaskClock } from '../../../src/modules/tasks/schedule/task-clock.js';
import { FeedRetention } from '../../../src/platform/sync/feed-retention.js';
import type { TestUser } from '../../support/app.ts';
import { MovingSite } from '../../support/installation/moving-site.ts';
import { fuzz, LIMIT_MS } from '../fuzzer.ts';
import type { User } from '../world.ts';

const ROUNDS = 3;

/**
 * Users write and devices synchronise while their workspace moves between two databases, once in each round.
 * @param seed of the random actions; each seed is a test file, which any worker can run
 */
export function synchroniseWhileMoving(seed: string): void {
  let site: MovingSite;

  beforeAll(async () => {
    site = await MovingSite.start();
  });
  afterAll(() => site?.stop());

  const user = ({ id, email, tenantId, token }: TestUser): User => ({
    id,
    email,
    name: email.split('@')[0] as string,
    tenantId: tenantId as string,
    token,
  });

  test(
    `seed ${seed}`,
    async () => {
      const { first, second } = site;
      const users = (await first.tenant(`fuzz-${seed}`, 'alice', 'bob', 'carol')).map(user);
      const [canary] = (await first.tenant(`other-${seed}`, 'canary')).map(user) as [User];
      const { tenantId } = users[0]!;
      const world = {
        databaseUrl: first.databaseUrl,
        currentDatabase: () => site.databaseOf(tenantId),
        bases: [first.base, second.base],
        users,
        canary,
        forget: (before: Date) =>
          site.inCells(first, () =>
            Promise.all([
              first.get(FeedRetention).forget(before),
              first.get<CalendarHousekeeping>(CalendarHousekeeping).forget(before),
            ]),
          ),
        purgeTrash: () =>
          site.inCells(second, () =>
            Promise.all([second.get(TrashPurge).purge(), second.get(TaskClock).purge()]),
          ),
        move: (noticed: () => boolean) => site.move(tenantId, noticed),
      };
      const plan = {
        seed,
        performers: 10,
        actionsPerRound: 300,
        moves: true,
        goOn: (rounds: number) => rounds < ROUNDS,
      };
      const { rounds, counts, failure } = await fuzz(world, plan);
      // Thrown unchanged, so that the report shows the lines of the trace.
      if (failure !== undefined) throw new Error(failure);
      expect(rounds).toBe(ROUNDS);
      expect(counts).toMatchObject({ moves: ROUNDS });
      expect(counts['records compared']).toBeGreaterThan(20);
      // A run is meaningful only if requests were rejected during moves.
      expect(counts['requests repeated after a move']).toBeGreaterThanOrEqual(ROUNDS);
    },
    LIMIT_MS,
  );
}
