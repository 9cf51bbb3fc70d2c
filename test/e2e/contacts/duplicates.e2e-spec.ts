import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { TestApp, type TestUser } from '../../support/app.ts';

const BOOKS = '/contact/addressbooks';

describe('duplicate contacts', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let bookId: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    bookId = (await alice.api.post(BOOKS, { name: 'Book' })).body.addressbook.id;
  });

  const add = async (external_id: string, fields: object): Promise<any> =>
    (await alice.api.post(`${BOOKS}/${bookId}/contacts`, { external_id, ...fields })).body.contact;
  const list = async (): Promise<any[]> => (await alice.api.get(`${BOOKS}/${bookId}/contacts`)).body.contacts;
  const merge = (external_ids: string[], by = alice) =>
    by.api.post('/contact/merges', { addressbook_id: bookId, external_ids });
  const undo = (id: string, by = alice) => by.api.post(`/contact/merges/${id}/undo`);
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];
  const content = ({ external_id, uid, full_name, emails, phones, notes }: any) => ({
    external_id,
    uid,
    full_name,
    emails,
    phones,
    notes,
  });

  test('are found by address, number and name, and joined in groups', async () => {
    await add('a', { full_name: 'Ann Lee', emails: ['ann@x.example'] });
    await add('b', { full_name: 'A. Lee', emails: ['ANN@x.example'], phones: ['+420601123456'] });
    await add('c', { full_name: 'Boss', phones: ['+420 601 123 456'] });
    await add('d', { full_name: 'Lee, Ann' });
    await add('e', { full_name: 'Eve' });
    const { status, body } = await alice.api.post('/contact/duplicates', { addressbook_id: bookId });
    expect(status).toBe(200);
    expect(body.duplicates).toHaveLength(1);
    const [group] = body.duplicates;
    expect(group.reasons).toEqual(['email', 'name', 'phone']);
    expect(group.contacts.map(({ external_id }: any) => external_id)).toEqual(['a', 'b', 'c', 'd']);
    const foreign = await bob.api.post('/contact/duplicates', { addressbook_id: bookId });
    expect(outcome(foreign)).toEqual([404, 'not_found']);
  });

  test('are merged when a user asks for it, and separated again', async () => {
    await add('a', { full_name: 'Ann', emails: ['ann@x.example'], notes: 'one' });
    await add('b', {
      full_name: 'Anna',
      emails: ['ann@x.example', 'anna@x.example'],
      notes: 'two',
      phones: ['+420601123456'],
    });
    const before = (await list()).map(content);
    const merged = await merge(['a', 'b']);
    expect(merged.status).toBe(200);
    expect(merged.body.contact).toMatchObject({
      external_id: 'a',
      full_name: 'Ann',
      notes: 'one\n\ntwo',
      revision: 2,
    });
    expect(merged.body.contact.emails).toHaveLength(2);
    expect(await list()).toHaveLength(1);
    expect(outcome(await undo(merged.body.merge_id, bob))).toEqual([404, 'not_found']);
    const separated = await undo(merged.body.merge_id);
    expect([separated.status, separated.body.contacts.map(content)]).toEqual([200, before]);
    expect((await list()).map(content)).toEqual(before);
    expect(outcome(await undo(merged.body.merge_id))).toEqual([404, 'not_found']);
  });

  test.each([
    ['server', { status: 409, error: 'conflict' }],
    ['merge', { status: 200, conflicts: ['job_title'] }],
  ])('after the undo, a change of an older revision is one (%s)', async (conflict, result) => {
    await add('a', { full_name: 'Ann' });
    const { job_title, revision } = await add('b', { full_name: 'Anna' });
    await alice.api.put(`${BOOKS}/${bookId}/contacts/b`, { job_title: 'Boss' });
    expect((await undo((await merge(['a', 'b'])).body.merge_id)).status).toBe(200);
    const change = { op: 'upsert', external_id: 'b', base_revision: revision };
    const contact = { full_name: 'Anna', job_title, notes: 'offline' };
    const sync = { conflict, changes: [{ ...change, contact }] };
    const { results } = (await alice.api.post(`${BOOKS}/${bookId}/contacts/sync`, sync)).body;
    expect(results).toMatchObject([result]);
    expect((await list())[1]).toMatchObject({ full_name: 'Anna', job_title: 'Boss' });
  });

  test('`urn:uuid:` before a uid is a spelling of it, as in vCard', async () => {
    const [a, b, friend] = Array.from({ length: 3 }, () => randomUUID());
    await add('a', { full_name: 'Person a', uid: `urn:uuid:${a}` });
    await add('b', {
      full_name: 'Person b',
      uid: `urn:uuid:${b}`,
      related: [{ type: 'friend', uri: `urn:uuid:${friend}` }],
    });
    const members = [`urn:uuid:${b}`, b, `urn:uuid:${friend}`];
    await add('team', { kind: 'group', full_name: 'team', members });
    const cards = async () => Object.fromEntries((await list()).map((each) => [each.external_id, each]));
    const made = await cards();
    expect([made['a'].uid, made['team'].members]).toEqual([a, [b, friend]]);
    const path = `/contact/phone-sync/export?addressbook_id=${bookId}`;
    const raw = (await alice.api.get(path)).text;
    const { body } = await alice.api.request('POST', `/contact/phone-sync/import?addressbook_id=${bookId}`, {
      raw,
      headers: { 'content-type': 'text/vcard' },
    });
    expect(body.import).toMatchObject({ created: 0, updated: 0, merged: 0, unchanged: 3 });
    await merge(['a', 'b']);
    expect((await cards())['team'].members).toEqual([a, friend]);
  });

  test('a uid that an earlier version stored with `urn:uuid:` loses it, if no contact has the other spelling', async () => {
    const [a, b, c] = Array.from({ length: 3 }, () => randomUUID()) as [string, string, string];
    await add('a', { full_name: 'Person a', uid: a });
    await add('b', { full_name: 'Person b', uid: b });
    await add('b2', { full_name: 'Person b2', uid: c });
    await add('team', { kind: 'group', full_name: 'team, "urn:uuid:x"', members: [a, c] });
    const stored = () =>
      app.sql(
        `SELECT uid, card::text AS card, size, content_hash, revision FROM contacts WHERE addressbook_id = $1 ORDER BY external_id`,
        [bookId],
      );
    const before = await stored();
    const path = `${BOOKS}/${bookId}/contacts/sync`;
    const { cursor } = (await alice.api.get(path)).body;
    await app.sql(`UPDATE contacts SET uid = 'urn:uuid:' || uid WHERE uid = $1`, [a]);
    await app.sql(`UPDATE contacts SET uid = 'urn:uuid:' || $1 WHERE uid = $2`, [b, c]);
    await app.sql(
      `UPDATE contacts SET card = replace(card::text, $1, 'urn:uuid:' || $1)::json, content_hash = '' WHERE addressbook_id = $2 AND kind = 'group'`,
      [a, bookId],
    );
    const file = new URL(
      '../../../src/modules/contacts/migrations/0009-spelling-of-uids.sql',
      import.meta.url,
    );
    await app.sql(readFileSync(file, 'utf8'));
    expect(await stored()).toEqual(
      before.map((row) => (row.uid === c ? { ...row, uid: `urn:uuid:${b}` } : row)),
    );
    const reply = await alice.api.post(`${BOOKS}/${bookId}/contacts`, {
      full_name: 'Again',
      uid: `urn:uuid:${a}`,
    });
    expect(outcome(reply)).toEqual([409, 'duplicate_uid']);
    const { body } = await alice.api.get(`${path}?cursor=${cursor}`);
    expect(body.changes.map(({ contact }: any) => contact.external_id).toSorted()).toEqual(['a', 'team']);
  });

  test('a merged contact takes the places of the others in groups; the undo gives them back', async () => {
    const people: any[] = [];
    for (const name of ['a', 'b', 'c', 'd']) people.push(await add(name, { full_name: `Person ${name}` }));
    const [a, b, c, d] = people.map(({ uid }) => uid);
    const group = async (external_id: string, members: string[]) =>
      add(external_id, { kind: 'group', full_name: external_id, members });
    const groups = { both: [d, b, a], one: [c, d, b], none: [d] };
    for (const [name, members] of Object.entries(groups)) await group(name, members);
    const members = async () =>
      Object.fromEntries(
        (await list()).filter(({ kind }) => kind === 'group').map((each) => [each.external_id, each.members]),
      );
    const { merge_id } = (await merge(['a', 'b', 'c'])).body;
    expect(await members()).toEqual({ both: [d, a], one: [a, d], none: [d] });
    await alice.api.put(`${BOOKS}/${bookId}/contacts/one`, { members: [d, a] });
    expect((await undo(merge_id)).status).toBe(200);
    expect(await members()).toEqual({ both: [d, a, b], one: [d, b, c], none: [d] });
  });

  test('a merge of a changed contact is not undone, nor one whose external_ids are used again', async () => {
    await add('a', { full_name: 'Ann' });
    await add('b', { full_name: 'Anna' });
    const first = (await merge(['a', 'b'])).body;
    await alice.api.put(`${BOOKS}/${bookId}/contacts/a`, { notes: 'later' });
    expect(outcome(await undo(first.merge_id))).toEqual([409, 'merge_blocked']);
    await add('c', { full_name: 'Anne' });
    const second = (await merge(['a', 'c'])).body;
    await add('c', { full_name: 'Other' });
    expect(outcome(await undo(second.merge_id))).toEqual([409, 'merge_blocked']);
    expect((await list()).map(({ full_name }) => full_name)).toEqual(['Ann', 'Other']);
    expect((await list())[0].notes).toBe('later');
  });

  test('a merge needs existing contacts that the caller may change', async () => {
    await add('a', { full_name: 'Ann' });
    expect(outcome(await merge(['a', 'x']))).toEqual([404, 'not_found']);
    expect(outcome(await merge(['a', 'a']))).toEqual([422, 'validation_failed']);
    await alice.api.put(`${BOOKS}/${bookId}`, { shares: [bob.id] });
    await add('b', { full_name: 'Anna' });
    expect(outcome(await merge(['a', 'b'], bob))).toEqual([403, 'forbidden']);
    const race = await Promise.all([merge(['a', 'b']), merge(['b', 'a']), merge(['a', 'b'])]);
    expect(race.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
  });

  test('the directory search finds contacts of all address books that the caller sees', async () => {
    await add('z', { full_name: 'Zdeněk Šťastný', emails: ['zdenek@x.example'] });
    const search = async (by: TestUser, query: string) =>
      (await by.api.get(`/directory/search?q=${query}`)).body.results;
    const [found] = await search(alice, 'stastny');
    expect(found).toEqual({
      kind: 'contact',
      id: expect.any(String),
      name: 'Zdeněk Šťastný',
      email: 'zdenek@x.example',
      avatar_url: null,
      score: 0.85,
      addressbook_id: bookId,
      external_id: 'z',
    });
    expect(await search(alice, 'zd%20stas')).toHaveLength(1);
    expect(await search(alice, 'stastny&kinds=user,group')).toEqual([]);
    expect(await search(bob, 'stastny')).toEqual([]);
    await alice.api.put(`${BOOKS}/${bookId}`, { shares: [bob.id] });
    expect(await search(bob, 'stastny')).toHaveLength(1);
    const [member] = await search(bob, 'alice');
    expect(member.kind).toBe('user');
  });

  test('merges are undone in the order of a stack, also those of a contact that was merged itself', async () => {
    const names = async () => (await list()).map(({ full_name }) => full_name).toSorted();
    for (const order of [
      [
        ['a', 'b'],
        ['a', 'c'],
      ],
      [
        ['a', 'b'],
        ['c', 'a'],
      ],
    ]) {
      for (const id of ['a', 'b', 'c']) await add(id, { full_name: id });
      const ids: string[] = [];
      for (const pair of order) ids.push((await merge(pair)).body.merge_id);
      for (const id of ids.toReversed()) expect((await undo(id)).status).toBe(200);
      expect(await names()).toEqual(['a', 'b', 'c']);
      for (const id of ['a', 'b', 'c']) await alice.api.delete(`${BOOKS}/${bookId}/contacts/${id}`);
    }
  });

  test('a merge keeps both extensions of a number, and the types and label of a common address', async () => {
    const phones = (extension: string) => [{ value: '+420222000000', extension }];
    await add('a', { full_name: 'Desk', phones: phones('11'), emails: ['desk@x.example'] });
    await add('b', {
      full_name: 'Desk',
      phones: [...phones('11'), ...phones('12')],
      emails: [{ value: 'DESK@x.example', types: ['work'], label: 'Office' }],
    });
    const { contact } = (await merge(['a', 'b'])).body;
    expect(contact.phones.map(({ extension }: any) => extension)).toEqual(['11', '12']);
    expect(contact.emails).toMatchObject([{ value: 'desk@x.example', types: ['work'], label: 'Office' }]);
    // Two labels of one number, of which one is the primary one.
    const labelled = (label: string, primary: boolean) => [{ value: '+420601000001', label, primary }];
    await add('c', { full_name: 'Shop', phones: labelled('Till', false) });
    await add('d', { full_name: 'Shop', phones: labelled('Yard', true) });
    const shop = (await merge(['c', 'd'])).body.contact;
    expect(shop.phones).toMatchObject([{ label: 'Till, Yard', primary: true }]);
  });

  test('a group and a person are no duplicates and are not merged', async () => {
    const emails = ['team@x.example'];
    await add('a', { full_name: 'Team', emails });
    await add('b', { full_name: 'Team', kind: 'group', emails, members: ['x'], on_duplicate: 'merge' });
    const { body } = await alice.api.post('/contact/duplicates', { addressbook_id: bookId });
    expect(body.duplicates).toEqual([]);
    for (const names of [
      ['a', 'b'],
      ['b', 'a'],
    ])
      expect(outcome(await merge(names))).toEqual([422, 'validation_failed']);
    const raw =
      'BEGIN:VCARD\nVERSION:4.0\nUID:g1\nKIND:group\nFN:Team\nEMAIL:team@x.example\nMEMBER:urn:uuid:y\nEND:VCARD\n' +
      'BEGIN:VCARD\nVERSION:4.0\nUID:p1\nFN:Team\nEMAIL:team@x.example\nNOTE:n\nEND:VCARD\n';
    const path = `/contact/phone-sync/import?addressbook_id=${bookId}`;
    const headers = { 'content-type': 'text/vcard; charset=utf-8' };
    expect((await alice.api.request('POST', path, { raw, headers })).body.import).toMatchObject({
      merged: 2,
    });
    expect(await list()).toMatchObject([
      { kind: 'individual', members: [], notes: 'n' },
      { kind: 'group', members: ['x', 'urn:uuid:y'], notes: null },
    ]);
  });

  test('relations to a merged contact follow it; the undo gives them back', async () => {
    const a = await add('a', { full_name: 'Person a' });
    const b = await add('b', { full_name: 'Person b' });
    const to = (type: string, uri: string) => ({ type, name: null, uri });
    const ofA = [to('friend', `urn:uuid:${b.uid}`), to('friend', 'urn:x:1')];
    await alice.api.put(`${BOOKS}/${bookId}/contacts/a`, { related: ofA });
    const ofC = [to('spouse', `urn:uuid:${a.uid}`), to('friend', b.uid)];
    await add('c', { full_name: 'Person c', related: ofC });
    const related = async () => (await list()).map((each) => each.related);
    const first = (await merge(['b', 'a'])).body;
    expect(await related()).toEqual([
      [to('friend', 'urn:x:1')],
      [to('spouse', `urn:uuid:${b.uid}`), to('friend', b.uid)],
    ]);
    expect((await undo(first.merge_id)).status).toBe(200);
    expect(await related()).toEqual([ofA, [], ofC]);
  });
});
