import { jest } from '@jest/globals';
import { memoryStore, openWorkspace, type SyncPhase, type Workspace } from '@workspace-backend/client/sync';
import { fakeOnly } from '../../../support/clock.ts';
import { ModelService } from '../../../support/sdk/model-service.ts';

/** Milliseconds of the longest first pause after a failure, and of the longest one at all. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [1_000, 60_000];

describe('attempts of a device without a connection', () => {
  let isOffline: boolean;
  /** Requests that were sent or lost. */
  let requests: number;
  let service: ModelService;
  let workspace: Workspace;

  beforeEach(() => {
    // Pauses end when the test says so.
    fakeOnly(['setTimeout', 'clearTimeout']);
    isOffline = true;
    requests = 0;
    service = new ModelService();
  });
  afterEach(async () => {
    await workspace.close();
    jest.useRealTimers();
  });

  const open = async () => {
    const client = service.client(() => {
      requests += 1;
      return isOffline;
    });
    workspace = await openWorkspace({ client, store: memoryStore(), user: 'alice', collections: ['notes'] });
  };
  const phase = (wanted: SyncPhase): Promise<void> =>
    new Promise((resolve) => {
      if (workspace.state.phase === wanted) return resolve();
      const remove = workspace.onState((state) => {
        if (state.phase !== wanted) return;
        remove();
        resolve();
      });
    });
  /** The next attempt begins and ends. */
  const nextAttempt = async (wait: number, wanted: SyncPhase) => {
    const begun = phase('syncing');
    jest.advanceTimersByTime(wait);
    await begun;
    await phase(wanted);
  };

  test('saves start none: they are sent by the next one', async () => {
    await open();
    await phase('offline');
    const before = requests;
    const notes = workspace.collection('notes');
    for (let n = 0; n < 20; n += 1) await notes.create({ title: `note ${n}` });
    expect(requests).toBe(before);
    expect(workspace.state.phase).toBe('offline');
    isOffline = false;
    await nextAttempt(FIRST_PAUSE_MS, 'idle');
    expect(service.notes.size).toBe(20);
  });

  test('a save during an attempt that fails starts none either', async () => {
    await open();
    const notes = workspace.collection('notes');
    // The attempt of the opening is under way.
    await notes.create({ title: 'during the attempt' });
    await phase('offline');
    const before = requests;
    await notes.create({ title: 'after it' });
    expect([requests, workspace.state.phase]).toEqual([before, 'offline']);
    await nextAttempt(FIRST_PAUSE_MS, 'offline');
    isOffline = false;
    await nextAttempt(MAX_PAUSE_MS, 'idle');
    expect(service.notes.size).toBe(2);
  });

  test('a synchronisation that the application asks for starts one at once', async () => {
    await open();
    await phase('offline');
    await workspace.collection('notes').create({ title: 'first' });
    isOffline = false;
    await workspace.sync();
    expect(service.notes.size).toBe(1);
  });

  test('a save with a connection is sent at once', async () => {
    isOffline = false;
    await open();
    await phase('idle');
    const sent = phase('syncing').then(() => phase('idle'));
    await workspace.collection('notes').create({ title: 'first' });
    await sent;
    expect(service.notes.size).toBe(1);
  });
});
