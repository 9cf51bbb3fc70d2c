import { generateKeyBetween } from 'fractional-indexing';
import { TestApp, type TestUser } from '../../support/app.ts';

const LARGEST_NUMBER = 'z'.repeat(27);

describe('the manual order of tasks', () => {
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());

  const add = async (fields: object = {}): Promise<string> => {
    const { status, body } = await alice.api.post('/tasks', { title: 'x', ...fields });
    expect([status, body.details]).toEqual([201, undefined]);
    return body.task.position;
  };
  const folder = async (): Promise<string> =>
    (await alice.api.post('/task_folders', { name: 'f' })).body.folder.id;

  test.each([
    ['in the future', 'hzzzzzzzz5'],
    ['after all times', 'hzzzzzzzzV'],
    ['with more digits', 'k00000000000'],
    ['at the end of the whole numbers', LARGEST_NUMBER],
    ['behind them', `${LARGEST_NUMBER}V`],
    ['far behind them', `${LARGEST_NUMBER}${'zV'.repeat(80)}`],
    ['of many z', `${LARGEST_NUMBER}${'z'.repeat(173)}`],
  ])('a key %s does not make later keys longer', async (_, position) => {
    const folder_id = await folder();
    const keys = [await add({ folder_id, position })];
    for (let n = 0; n < 4; n += 1) keys.push(await add({ folder_id }));
    expect(keys).toEqual([...keys].sort());
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(() => generateKeyBetween(key, null)).not.toThrow();
    expect(keys.at(-1)!.length).toBeLessThanOrEqual(position.length + 8);
    // There is room on both sides.
    const last = (await alice.api.get(`/tasks?folder_id=${folder_id}&sort=position`)).body.tasks.at(-1);
    expect(last.position).toBe(keys.at(-1));
    const moved = await alice.api.patch(`/tasks/${last.id}`, { position: 'first' });
    expect([moved.status, moved.body.task.position < keys[0]!]).toEqual([200, true]);
  });
});
