// Offline sync in tabs with one store in IndexedDB.
import assert from 'node:assert/strict';

/** Opens the workspace of the signed-in user. `titles` has the result of a live query. */
const openWorkspace = async () => {
  const store = await library.indexedDbStore('notes of the user');
  app.workspace = await library.openWorkspace({
    client: app.client,
    store,
    user: 'the user',
    collections: ['notes'],
  });
  app.notes = app.workspace.collection('notes');
  app.notes.live({}, (notes) => {
    app.titles = notes.map(({ title }) => title);
  });
};
const isShown = (title) => app.titles?.includes(title);

/** Titles of the notes of the service. */
const titlesOfService = async () => {
  const query = { limit: 200 };
  const { notes } = library.unwrap(await app.client.GET('/notes', { params: { query } }));
  return notes.map(({ title }) => title);
};

/**
 * @param parts `tab()`: a tab of the signed-in user; `newTab()` opens a further one
 */
export function offlineSteps({ tab, newTab }) {
  let leader;
  /** Requests of the synchronisation, by the tab that has sent them. */
  const senders = [];
  const watch = (name, page) =>
    page.on('request', (request) => {
      if (/\/(?:batch|sync\/state)/.test(request.url())) senders.push(name);
    });
  return {
    'two tabs show what either saves, and one of them synchronises': async () => {
      leader = await newTab();
      watch('first', leader);
      watch('second', tab());
      await leader.evaluate(openWorkspace);
      await leader.waitForFunction(() => app.workspace.state.phase === 'idle');
      await tab().evaluate(openWorkspace);
      await tab().evaluate(() => app.notes.create({ title: 'Saved in the second tab' }));
      await leader.waitForFunction(isShown, 'Saved in the second tab');
      await tab().evaluate(() => app.workspace.sync());
      assert.ok((await tab().evaluate(titlesOfService)).includes('Saved in the second tab'));
      await leader.evaluate(() => app.notes.create({ title: 'Saved in the first tab' }));
      await tab().waitForFunction(isShown, 'Saved in the first tab');
      assert.deepEqual([...new Set(senders)], ['first']);
    },
    'without a connection both save, and a tab that is killed loses nothing that was saved': async () => {
      await leader.context().setOffline(true);
      await leader.evaluate(() => app.notes.create({ title: 'Offline in the first tab' }));
      await tab().evaluate(() => app.notes.create({ title: 'Offline in the second tab' }));
      await tab().waitForFunction(isShown, 'Offline in the first tab');
      // Saves are under way when the tab ends.
      await leader.evaluate(() => {
        for (let n = 0; n < 50; n += 1) void app.notes.create({ title: `Under way ${n}` });
      });
      await leader.close();
      await tab().context().setOffline(false);
      await tab().evaluate(() => app.workspace.sync());
      const titles = await tab().evaluate(titlesOfService);
      for (const name of ['first', 'second']) assert.ok(titles.includes(`Offline in the ${name} tab`));
      const shown = await tab().evaluate(() => app.titles);
      assert.deepEqual(shown.toSorted(), titles.toSorted());
      const begun = titles.filter((title) => title.startsWith('Under way'));
      assert.equal(new Set(begun).size, begun.length);
      assert.equal((await tab().evaluate(() => app.workspace.pending())).length, 0);
      assert.ok(senders.includes('second'));
      await tab().evaluate(() => app.workspace.close());
    },
    'a full store saves nothing more, keeps what was saved before, and continues with space': async () => {
      const full = await tab().context().newPage();
      // An origin of its own: Chromium remembers the free space of one that it has used for some time.
      const { port } = new URL(tab().url());
      await full.goto(`http://localhost:${port}`);
      await full.waitForFunction('globalThis.library !== undefined');
      const session = await full.context().newCDPSession(full);
      const setQuota = (quotaSize) =>
        session.send('Storage.overrideQuotaForOrigin', { origin: `http://localhost:${port}`, ...quotaSize });
      await setQuota({ quotaSize: 500_000 });
      const result = await full.evaluate(async () => {
        const fetch = () => Promise.reject(new TypeError('offline'));
        const workspace = await library.openWorkspace({
          client: library.createClient({ url: location.origin, fetch }),
          store: await library.indexedDbStore('small'),
          user: 'the user',
          collections: ['notes'],
        });
        globalThis.app = { workspace, notes: workspace.collection('notes') };
        // Chromium compresses what it stores.
        app.content = Array.from({ length: 60_000 }, () => crypto.randomUUID()).join('');
        const { content } = app;
        const id = await app.notes.create({ title: 'Saved before it is full' });
        const failed = await Promise.allSettled([
          app.notes.create({ title: 'Does not fit', content }),
          app.notes.update(id, { content }),
        ]);
        const names = failed.map(({ reason }) => [
          reason instanceof library.StoreFullError,
          reason?.cause?.name,
        ]);
        return { names, left: await app.notes.list(), pending: (await workspace.pending()).length };
      });
      assert.deepEqual(result.names, [
        [true, 'QuotaExceededError'],
        [true, 'QuotaExceededError'],
      ]);
      assert.deepEqual(
        result.left.map(({ title, content }) => [title, content]),
        [['Saved before it is full', undefined]],
      );
      assert.equal(result.pending, 1);

      // A full store can be opened again; a new one cannot be created. Chromium creates one in spite of its quota.
      const opened = await full.evaluate(async () => {
        await app.workspace.close();
        const fetch = () => Promise.reject(new TypeError('offline'));
        app.workspace = await library.openWorkspace({
          client: library.createClient({ url: location.origin, fetch }),
          store: await library.indexedDbStore('small'),
          user: 'the user',
          collections: ['notes'],
        });
        app.notes = app.workspace.collection('notes');
        const open = indexedDB.open.bind(indexedDB);
        indexedDB.open = (...parameters) => {
          const request = open(...parameters);
          Object.defineProperty(request, 'error', { value: new DOMException('full', 'QuotaExceededError') });
          request.addEventListener('success', (event) => {
            event.stopImmediatePropagation();
            request.dispatchEvent(new Event('error'));
          });
          return request;
        };
        const other = await library.indexedDbStore('another').catch((error) => error);
        delete indexedDB.open;
        return {
          left: (await app.notes.list()).map(({ title }) => title),
          isTyped: other instanceof library.StoreFullError,
          cause: `${other?.cause?.name}`,
        };
      });
      assert.deepEqual(opened, {
        left: ['Saved before it is full'],
        isTyped: true,
        cause: 'QuotaExceededError',
      });
      await setQuota({});
      const titles = await full.evaluate(async () => {
        await app.notes.create({ title: 'Fits now', content: app.content });
        return (await app.notes.list()).map(({ title }) => title).sort();
      });
      assert.deepEqual(titles, ['Fits now', 'Saved before it is full']);
      await full.close();
    },
  };
}
