import { TaskClock } from '../../../src/modules/tasks/schedule/task-clock.js';
import type { TestApp } from '../app.ts';
import { until } from '../until.ts';

/**
 * Runs the job that purges tasks until it has purged this one: it leaves tasks that are being indexed to its next run.
 * @returns the number of purged tasks
 */
export async function purgeTask(app: TestApp, id: string): Promise<number> {
  await app.sql(`UPDATE tasks SET purge_at = now() - interval '1 second' WHERE id = $1`, [id]);
  let purged = 0;
  await until('the purge', async () => {
    purged += await app.get(TaskClock).purge();
    return (await app.sql('SELECT 1 FROM tasks WHERE id = $1', [id])).length === 0;
  });
  return purged;
}
