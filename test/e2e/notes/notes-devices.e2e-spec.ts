import { TestApp, type TestUser } from '../../support/app.ts';

describe('updated_device', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const newest = async (user: TestUser): Promise<any> =>
    (await user.api.get('/notes/index?limit=1')).body.notes[0];

  test('names the device of the last change, so that a client knows its own', async () => {
    const { note } = (await alice.api.post('/notes', { title: 'a', device_id: 'phone' })).body;
    expect([note.updated_device, (await newest(alice)).updated_device]).toEqual(['phone', 'phone']);
    const path = `/notes/${note.id}`;
    await alice.api.patch(path, { title: 'b', base_revision: 1, device_id: 'laptop' });
    expect((await newest(alice)).updated_device).toBe('laptop');
    await alice.api.put(`${path}/invited`, { invited: [{ id: bob.id, role: 'editor' }] });
    expect([(await newest(alice)).updated_device, (await newest(bob)).updated_device]).toEqual([null, null]);
    await bob.api.patch(path, { title: 'c', base_revision: 2, device_id: "bob's" });
    expect([(await newest(alice)).updated_device, (await newest(bob)).updated_device]).toEqual([
      "bob's",
      "bob's",
    ]);
    await alice.api.delete(path, { base_revision: 3, device_id: 'phone' });
    expect(await newest(bob)).toMatchObject({ deleted: true, updated_device: 'phone' });
    await alice.api.post(`${path}/restore`, { device_id: 'laptop' });
    expect(await newest(bob)).toMatchObject({ deleted: false, updated_device: 'laptop' });
    await alice.api.patch(path, { title: 'd', base_revision: 3 });
    expect((await newest(bob)).updated_device).toBeNull();
  });

  test('is the device of the own placement where only this changed', async () => {
    const { note } = (await alice.api.post('/notes', { title: 'placed', device_id: 'phone' })).body;
    await alice.api.put(`/notes/${note.id}/invited`, { invited: [bob.id] });
    const { folder } = (await bob.api.post('/note_folders', { name: 'F' })).body;
    const placed = await bob.api.patch(`/notes/${note.id}`, {
      folder_id: folder.id,
      base_revision: 1,
      device_id: 'tablet',
    });
    expect(placed.body.note).toMatchObject({ revision: 1, updated_device: 'tablet' });
    expect((await alice.api.get(`/notes/${note.id}`)).body.note.updated_device).toBeNull();
    await bob.api.delete(`/note_folders/${folder.id}`);
    expect((await bob.api.get(`/notes/${note.id}`)).body.note).toMatchObject({
      folder_id: null,
      updated_device: null,
    });
  });
});
