import { createDemoWorkspace, demoToken } from '../../../src/demo/demo-workspace.js';
import { TestApp } from '../../support/app.ts';

test('the demo workspace has tasks to look at, made once', async () => {
  const app = await TestApp.start();
  try {
    await createDemoWorkspace(app.served.nest);
    await createDemoWorkspace(app.served.nest);
    const api = app.as((await demoToken(app.served.nest)) as string);
    const { tasks } = (await api.get('/tasks?sort=date')).body;
    expect(
      tasks.map((task: any) => [task.title, task.assignees.length, task.recurrence?.rrule ?? null]),
    ).toEqual([
      ['Weekly report', 0, 'FREQ=WEEKLY'],
      ['Book the rooms', 1, null],
      ['Collect topics for the agenda', 0, null],
    ]);
    const { folders } = (await api.get('/task_folders')).body;
    expect(folders).toMatchObject([
      { name: 'Offsite', task_count: 2, members: [{ email: 'bob@demo.example' }] },
    ]);
  } finally {
    await app.stop();
  }
});
