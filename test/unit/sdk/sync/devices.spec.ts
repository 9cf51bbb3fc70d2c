import { memoryStore, openWorkspace, type Store, type Workspace } from '@workspace-backend/client/sync';
import fc from 'fast-check';
import { ModelService } from '../../../support/sdk/model-service.ts';

const step = fc.record({
  device: fc.constantFrom(0, 1),
  what: fc.constantFrom('create', 'label', 'label', 'write', 'sync', 'sync', 'reopen'),
  note: fc.nat(),
});
/** Which requests and responses are lost, in their order. */
const losses = fc.infiniteStream(fc.integer({ min: 0, max: 6 }).map((n) => n === 0));

describe('two devices with a bad connection', () => {
  test('end with the same notes, and lose no label that was saved', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), losses, async (steps, lost) => {
        const service = new ModelService();
        let isBad = true;
        const client = service.client(() => isBad && lost.next().value === true);
        const stores = [memoryStore(), memoryStore()];
        // A store outlives the workspace that is closed.
        const open = (store: Store) =>
          openWorkspace({
            client,
            store: { ...store, close: async () => undefined },
            user: 'alice',
            collections: ['notes'],
          });
        const devices: Workspace[] = await Promise.all(stores.map(open));
        const ids: string[] = [];
        const saved: [string, string][] = [];
        for (const [n, { device, what, note }] of steps.entries()) {
          const notes = devices[device]!.collection('notes');
          const id = ids[note % Math.max(1, ids.length)];
          if (what === 'create') ids.push(await notes.create({ title: `note ${n}`, labels: [] }));
          if (what === 'sync') await devices[device]!.sync().catch(() => undefined);
          if (what === 'reopen') {
            await devices[device]!.close();
            devices[device] = await open(stores[device]!);
          }
          const item = id === undefined ? undefined : await notes.get(id);
          if (!item) continue;
          if (what === 'write') await notes.update(item.id, { content: `<p>${n}</p>` }, item);
          if (what !== 'label') continue;
          await notes.update(item.id, { labels: [...item.labels!, `label ${n}`] }, item);
          saved.push([item.id, `label ${n}`]);
        }
        isBad = false;
        for (let round = 0; round < 3; round += 1) for (const device of devices) await device.sync();
        const shown = (notes: Iterable<any>) =>
          Object.fromEntries([...notes].map(({ id, labels, content }) => [id, { labels, content }]));
        for (const device of devices) {
          expect(await device.pending()).toEqual([]);
          expect(shown(await device.collection('notes').list())).toEqual(shown(service.notes.values()));
          await device.close();
        }
        for (const [id, label] of saved) expect(service.notes.get(id)!['labels']).toContain(label);
      }),
    );
  });
});
