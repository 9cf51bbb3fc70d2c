import fc from 'fast-check';
import { applyPatch, GROUPS, type Json, project, readResource, USERS } from '../../../src/lib/scim/index.js';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const BASE = {
  schemas: [USER],
  id: '1',
  userName: 'bjensen',
  emails: [{ value: 'a@x', type: 'work', primary: true }],
};

const patch = (resource: Json, ...Operations: object[]): Json =>
  applyPatch(USERS, resource, { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });
const patchGroup = (resource: Json, ...Operations: object[]): Json =>
  applyPatch(GROUPS, resource, { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });

describe('PATCH', () => {
  // RFC 7644, sections 3.5.2.1 to 3.5.2.3.
  test('adds values, and attributes without a path', () => {
    const members = [{ value: 'u1' }];
    const value = [{ display: 'Babs', $ref: 'https://x', value: 'u2' }];
    expect(patchGroup({ members }, { op: 'add', path: 'members', value })['members']).toEqual([
      { value: 'u1' },
      { value: 'u2' },
    ]);
    const added = patch(BASE, {
      op: 'add',
      value: { emails: [{ value: 'b@x', type: 'home' }], nickName: 'Babs' },
    });
    expect(added).toMatchObject({
      nickName: 'Babs',
      emails: [BASE.emails[0], { value: 'b@x', type: 'home' }],
    });
    expect(BASE.emails).toHaveLength(1);
  });

  test('an added value that exists changes nothing', () => {
    const members = [{ value: 'u1' }, { value: 'u2' }];
    expect(patchGroup({ members }, { op: 'add', path: 'members', value: members[1] })['members']).toEqual(
      members,
    );
  });

  test.each([
    ['an added value', { op: 'add', path: 'emails', value: { value: 'b@x', type: 'home', primary: true } }],
    [
      'a changed value',
      {
        op: 'replace',
        path: 'emails[type eq "other"]',
        value: { value: 'b@x', type: 'home', primary: true },
      },
    ],
  ])('%s that exists becomes the primary one', (_, operation) => {
    const home = { value: 'b@x', type: 'home', display: 'B' };
    const emails = [...BASE.emails, home, { value: 'c@x', type: 'other' }];
    const { emails: after } = patch({ ...BASE, emails }, operation) as { emails: Json[] };
    expect(after.slice(0, 2)).toEqual([
      { ...BASE.emails[0], primary: false },
      { ...home, primary: true },
    ]);
  });

  test('removes entries that have the given members', () => {
    const phoneNumbers = [
      { value: '+47 1', type: 'work' },
      { value: '+47 1', type: 'home' },
      { value: '+47 2', type: 'work' },
    ];
    const removed = (value: object[]) =>
      patch({ ...BASE, phoneNumbers }, { op: 'remove', path: 'phoneNumbers', value })['phoneNumbers'];
    expect(removed([{ value: '+47 1' }])).toEqual([phoneNumbers[2]]);
    expect(removed([{ value: '+47 1', type: 'home' }])).toEqual([phoneNumbers[0], phoneNumbers[2]]);
    expect(removed([{ value: '+47 3' }])).toEqual(phoneNumbers);
  });

  test('removes a value, a list and a sub-attribute', () => {
    const emails = [...BASE.emails, { value: 'b@x', type: 'home' }];
    const user = { ...BASE, emails, name: { givenName: 'A', familyName: 'B' } };
    expect(patch(user, { op: 'remove', path: 'emails[type eq "work" and value ew "x"]' })['emails']).toEqual([
      emails[1],
    ]);
    expect(patch(user, { op: 'remove', path: 'emails' })).not.toHaveProperty('emails');
    expect(patch(user, { op: 'remove', path: 'name.givenName' })['name']).toEqual({ familyName: 'B' });
    expect(patch(user, { op: 'remove', path: 'emails[type eq "home"].type' })['emails']).toEqual([
      emails[0],
      { value: 'b@x' },
    ]);
  });

  test('replaces a value, sub-attributes that are not named stay', () => {
    const addresses = [{ type: 'work', streetAddress: 'Old', country: 'DE' }];
    const value = { type: 'work', streetAddress: '911 Universal City Plaza', locality: 'Hollywood' };
    const user = patch({ ...BASE, addresses }, { op: 'replace', path: 'addresses[type eq "work"]', value });
    expect(user['addresses']).toEqual([{ ...value, country: 'DE' }]);
    const named = patch(
      { ...BASE, name: { givenName: 'A', familyName: 'B' } },
      { op: 'replace', path: 'name', value: { givenName: 'C' } },
    );
    expect(named['name']).toEqual({ givenName: 'C', familyName: 'B' });
    expect(patch(BASE, { op: 'replace', path: 'emails', value: [{ value: 'n@x' }] })['emails']).toEqual([
      { value: 'n@x' },
    ]);
  });

  test('a new primary value takes the place of the current one', () => {
    const emails = (user: Json) =>
      (user['emails'] as Json[]).map(({ value, primary = false }) => [value, primary]);
    const added = patch(BASE, { op: 'add', path: 'emails', value: { value: 'b@x', primary: true } });
    expect(emails(added)).toEqual([
      ['a@x', false],
      ['b@x', true],
    ]);
    const again = patch(added, { op: 'replace', path: 'emails[value eq "a@x"].primary', value: 'True' });
    expect(emails(again)).toEqual([
      ['a@x', true],
      ['b@x', false],
    ]);
  });

  test('an entry takes `primary` from another one when it has a value', () => {
    const emails = (...operations: object[]) => readResource(USERS, patch(BASE, ...operations))['emails'];
    const primary = { op: 'replace', path: 'emails[type eq "home"].primary', value: 'True' };
    const value = { op: 'replace', path: 'emails[type eq "home"].value', value: 'b@x' };
    expect(emails(primary)).toEqual(BASE.emails);
    const both = [
      { ...BASE.emails[0], primary: false },
      { value: 'b@x', type: 'home', primary: true },
    ];
    expect(emails(primary, value)).toEqual(both);
    expect(emails(value, primary)).toEqual(both);
  });

  // The form of Microsoft Entra.
  test.each([
    [[{ value: '+4755501235' }], [0, 2]],
    [[{ value: '+4755501234' }], [1]],
    [[{ value: '+4755501234', type: 'home' }], [0, 1]],
    [[{ value: '+4755501234' }, { value: '+4755501235', type: 'work' }], []],
    [[{ value: '+4755501235', type: 'home' }], [0, 1, 2]],
  ])('removes the entries that %j names', (value, left) => {
    const phoneNumbers = [
      { type: 'mobile', value: '+4755501234' },
      { type: 'work', value: '+4755501235', primary: true },
      { type: 'home', value: '+4755501234' },
    ];
    const after = patch({ ...BASE, phoneNumbers }, { op: 'remove', path: 'phoneNumbers', value });
    expect(after['phoneNumbers'] ?? []).toEqual(left.map((n) => phoneNumbers[n]));
  });

  test('removes the entries without a value that have all that is named', () => {
    const addresses = [
      { type: 'work', locality: 'Bergen', country: 'NO' },
      { type: 'home', locality: 'Bergen' },
    ];
    const after = (value: object[]) =>
      patch({ ...BASE, addresses }, { op: 'remove', path: 'addresses', value })['addresses'] ?? [];
    expect(after([{ type: 'work', locality: 'Bergen' }])).toEqual([addresses[1]]);
    expect(after([{ locality: 'Bergen' }])).toEqual([]);
    expect(after([{ locality: 'Oslo' }])).toEqual(addresses);
  });

  test.each([
    ['an empty text', ''],
    ['null', null],
  ])('%s as the value of an entry removes the entry with its type', (_, value) => {
    const phoneNumbers = [
      { type: 'mobile', value: '+4755501234' },
      { type: 'work', value: '+4755501235' },
    ];
    const addresses = [{ type: 'work', locality: 'Bergen', primary: true }];
    const after = (...operations: object[]) => {
      const user = patch({ ...BASE, phoneNumbers, addresses }, ...operations);
      return readResource(USERS, user);
    };
    const mobile = 'phoneNumbers[type eq "mobile"].value';
    expect(after({ op: 'replace', path: mobile, value })['phoneNumbers']).toEqual([phoneNumbers[1]]);
    expect(after({ op: 'add', path: mobile, value })['phoneNumbers']).toEqual([phoneNumbers[1]]);
    const list = [{ type: 'mobile', value }, phoneNumbers[1]];
    expect(after({ op: 'replace', path: 'phoneNumbers', value: list })['phoneNumbers']).toEqual([
      phoneNumbers[1],
    ]);
    const locality = 'addresses[type eq "work"].locality';
    expect(after({ op: 'replace', path: locality, value })).not.toHaveProperty('addresses');
    expect(after({ op: 'replace', path: 'phoneNumbers[type eq "fax"].value', value })).toHaveProperty(
      'phoneNumbers',
      phoneNumbers,
    );
  });

  test('an entry that the filter of a path describes has values of the declared types', () => {
    const path = 'roles[primary eq "True"]';
    const user = patch(
      BASE,
      { op: 'Add', path: `${path}.display`, value: 'Clerk' },
      { op: 'Add', path: `${path}.value`, value: 'clerk' },
    );
    expect(user['roles']).toEqual([{ primary: true, display: 'Clerk', value: 'clerk' }]);
  });

  // Microsoft Entra replaces values that the service does not have, in the PATCH that deactivates the user.
  test.each([
    ['phoneNumbers[type eq "mobile"].value', '+4755501234', { type: 'mobile', value: '+4755501234' }],
    ['addresses[type eq "work"].locality', 'Bergen', { type: 'work', locality: 'Bergen' }],
    ['roles[primary eq "True"].value', 'clerk', { primary: true, value: 'clerk' }],
    ['addresses[type eq "work"]', { locality: 'Bergen' }, { type: 'work', locality: 'Bergen' }],
  ])('a replacement of %s creates the entry that its filter describes', (path, value, entry) => {
    const user = patch(
      BASE,
      { op: 'Replace', path, value },
      { op: 'Replace', path: 'active', value: 'False' },
    );
    expect([user[path.slice(0, path.indexOf('['))], user['active']]).toEqual([[entry], false]);
  });

  test('a replacement of an entry that its filter names by the value needs the entry', () => {
    expect(() => patch(BASE, { op: 'replace', path: 'emails[value eq "b@x"].display', value: 'B' })).toThrow(
      'No value of emails matches the path.',
    );
    expect(() =>
      patchGroup({ members: [] }, { op: 'replace', path: 'members[value eq "u1"]', value: { value: 'u1' } }),
    ).toThrow('No value of members matches the path.');
  });

  // Earlier versions of Microsoft Entra, and its library for servers.
  test('a text or a boolean in a list of one object', () => {
    const wrapped = (value: unknown) => [{ $ref: null, value }];
    const user = patch(
      BASE,
      { op: 'Replace', path: 'displayName', value: wrapped('Ina') },
      { op: 'Replace', path: 'name.givenName', value: wrapped('Ina') },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: wrapped('b@x') },
      { op: 'Replace', value: [{ active: wrapped('False') }] },
    );
    expect(user).toEqual({
      ...BASE,
      displayName: 'Ina',
      name: { givenName: 'Ina' },
      emails: [{ ...BASE.emails[0], value: 'b@x' }],
      active: false,
    });
    expect(() => patch(BASE, { op: 'Replace', path: 'title', value: ['Clerk'] })).toThrow('must be a text');
  });

  test('names of the message in any case, and a message without schemas', () => {
    const operations = [{ Op: 'Replace', Path: 'title', Value: 'Clerk' }];
    expect(applyPatch(USERS, BASE, { operations })['title']).toBe('Clerk');
    expect(() => applyPatch(USERS, BASE, { schemas: [USER], Operations: operations })).toThrow(
      'schemas must contain',
    );
  });

  test('a text in a list is the value of an entry', () => {
    expect(patch(BASE, { op: 'add', path: 'roles', value: ['clerk'] })['roles']).toEqual([
      { value: 'clerk' },
    ]);
  });

  test('a password is accepted and not stored', () => {
    const value = 'seven purple teapots dance';
    expect(patch(BASE, { op: 'replace', path: 'password', value })).toEqual(BASE);
    expect(patch(BASE, { op: 'replace', value: { password: value } })).toEqual(BASE);
    expect(readResource(USERS, { ...BASE, password: value })).not.toHaveProperty('password');
  });

  test('extensions by URN', () => {
    const user = patch(
      BASE,
      { op: 'add', path: `${ENTERPRISE}:department`, value: 'D' },
      { op: 'replace', path: ENTERPRISE, value: { division: 'V' } },
    );
    expect(user[ENTERPRISE]).toEqual({ department: 'D', division: 'V' });
    expect(patch(user, { op: 'remove', path: ENTERPRISE })).not.toHaveProperty([ENTERPRISE]);
    expect(patch(user, { op: 'replace', value: { [ENTERPRISE]: { division: null } } })[ENTERPRISE]).toEqual({
      department: 'D',
    });
  });

  // The requests of Microsoft Entra ("Reference mapping of a manager") and Okta, and those of the RFC.
  test.each([
    ['a path with a text, of Entra', { op: 'Add', path: `${ENTERPRISE}:manager`, value: 'u9' }],
    ['a path with an object', { op: 'replace', path: `${ENTERPRISE}:manager`, value: { value: 'u9' } }],
    [
      'a list of references, of Entra',
      { op: 'Add', path: `${ENTERPRISE}:manager`, value: [{ $ref: 'https://x', value: 'u9' }] },
    ],
    ['a path to the value', { op: 'Replace', path: `${ENTERPRISE}:manager.value`, value: 'u9' }],
    ['a dot after the URN', { op: 'Add', path: `${ENTERPRISE}.manager`, value: 'u9' }],
    ['without a path, a URN as key', { op: 'add', value: { [`${ENTERPRISE}:manager`]: 'u9' } }],
    [
      'without a path, the extension as key',
      { op: 'replace', value: { [ENTERPRISE]: { manager: { $ref: 'https://x', value: 'u9' } } } },
    ],
    ['the name alone, of Entra', { op: 'Add', path: 'manager', value: [{ $ref: 'https://x', value: 'u9' }] }],
    ['without a path, the name alone', { op: 'Add', value: { manager: 'u9' } }],
    ['the extension as path', { op: 'add', path: ENTERPRISE, value: { manager: { value: 'u9' } } }],
  ])('a manager: %s', (_, operation) => {
    const user = patch(BASE, operation, { op: 'add', path: `${ENTERPRISE}:department`, value: 'D' });
    expect(user[ENTERPRISE]).toEqual({ manager: { value: 'u9' }, department: 'D' });
    for (const path of [`${ENTERPRISE}:manager`, `${ENTERPRISE}:manager.value`])
      expect(patch(user, { op: 'Remove', path })[ENTERPRISE]).toEqual({ department: 'D' });
    const emptied = patch(user, { op: 'Replace', path: `${ENTERPRISE}:manager`, value: '' });
    expect(emptied[ENTERPRISE]).toEqual({ department: 'D' });
  });

  test('the operations of a request apply in their order', () => {
    const user = patch(
      BASE,
      { op: 'add', path: 'title', value: 'A' },
      { op: 'remove', path: 'title' },
      { op: 'add', path: 'title', value: 'B' },
    );
    expect(user['title']).toBe('B');
  });

  test('a thousand operations that name members of a large group, by filters and by values', () => {
    const idOf = (n: number) => `user-${n}`;
    const members = Array.from({ length: 20_000 }, (_, n) => ({ value: idOf(n), type: 'User' }));
    const operations = Array.from({ length: 250 }, (_, n) => [
      { op: 'remove', path: `members[value eq "${idOf(n)}"]` },
      { op: 'remove', path: `members[type eq "user" and value eq "${idOf(1_000 + n)}"]` },
      { op: 'remove', path: 'members', value: [{ value: idOf(2_000 + n) }] },
      { op: 'add', path: 'members', value: [{ value: `new-${n}` }, { value: idOf(19_000) }] },
    ]).flat();
    const { members: left } = patchGroup({ members }, ...operations);
    const removed = (n: number) => n % 1_000 < 250 && n < 3_000;
    expect(left).toEqual([
      ...members.filter((_, n) => !removed(n)),
      ...Array.from({ length: 250 }, (_, n) => ({ value: `new-${n}` })),
    ]);
  });

  test('operations that compare too many values are rejected', () => {
    const members = Array.from({ length: 5_000 }, (_, n) => ({ value: `user-${n}`, type: 'User' }));
    const operations = Array.from({ length: 1_000 }, () => ({ op: 'remove', path: 'members[type eq "x"]' }));
    expect(() => patchGroup({ members }, ...operations)).toThrow('compare too many values');
    expect(patchGroup({ members }, ...operations.slice(0, 100))['members']).toEqual(members);
    const addresses = Array.from({ length: 60 }, (_, n) => ({ country: `c${n}` }));
    const added = addresses.map((value) => ({ op: 'add', path: 'addresses', value }));
    expect(() => patch(BASE, ...added)).toThrow('must have at most 50 values');
  });

  test('a change to read values, and back, restores the resource', () => {
    const value = fc.string({ minLength: 1, maxLength: 20 });
    const resource = fc.record(
      { title: value, nickName: value, name: fc.record({ givenName: value, familyName: value }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(resource, resource, (one, other) => {
        const names = ['title', 'nickName', 'name'] as const;
        const to = (user: typeof one) =>
          names.flatMap((path): object[] => [
            { op: 'remove', path },
            ...(user[path] === undefined ? [] : [{ op: 'add', path, value: user[path] }]),
          ]);
        const start: Json = readResource(USERS, { ...BASE, ...one });
        const changed = patch(start, ...to(other));
        expect(readResource(USERS, { ...changed, schemas: [USER] })).toEqual(
          readResource(USERS, { ...BASE, ...other }),
        );
        expect(patch(changed, ...to(one))).toEqual(start);
      }),
    );
  });
});

describe('resources', () => {
  test('names in any case, read-only and unknown attributes, null and empty values', () => {
    const read = readResource(USERS, {
      SCHEMAS: [USER.toUpperCase()],
      USERNAME: 'ann',
      Active: 'FALSE',
      id: 'x',
      groups: [{ value: 'g' }],
      unknown: 1,
      title: '',
      nickName: null,
      name: { GivenName: 'Ann', other: 1 },
      emails: [],
      [ENTERPRISE.toUpperCase()]: { Department: 'D', badge: { value: 'm' } },
    });
    expect(read).toEqual({
      userName: 'ann',
      active: false,
      name: { givenName: 'Ann' },
      [ENTERPRISE]: { department: 'D' },
    });
  });

  test('reading a read resource changes nothing', () => {
    const user = {
      schemas: [USER],
      userName: 'ann',
      phoneNumbers: [{ value: '1', type: 'work', primary: false }],
      active: true,
    };
    const once = readResource(USERS, user);
    expect(readResource(USERS, { ...once, schemas: [USER] })).toEqual(once);
  });

  test('the schema of the address is that of a body without schemas', () => {
    expect(readResource(USERS, { userName: 'ann' })).toEqual({ userName: 'ann' });
    expect(() => readResource(USERS, { schemas: [ENTERPRISE], userName: 'ann' })).toThrow(
      'schemas must contain',
    );
  });

  test('two primary values are rejected', () => {
    const emails = [
      { value: 'a', primary: true },
      { value: 'b', primary: true },
    ];
    expect(() => readResource(USERS, { ...BASE, emails })).toThrow('at most one primary');
  });

  test('a selection contains the id and the schemas, and nothing else that is not named', () => {
    const names = ['userName', 'emails', 'emails.value', 'name', 'title', 'unknown', 'id'];
    fc.assert(
      fc.property(fc.subarray(names, { minLength: 1 }), (list) => {
        const part = project(
          USERS,
          { ...BASE, title: 'T', name: { givenName: 'A' } },
          { attributes: list.join(',') },
        );
        const wanted = new Set([...list.map((name) => name.split('.')[0]!), 'id', 'schemas']);
        wanted.delete('unknown');
        expect(new Set(Object.keys(part))).toEqual(wanted);
      }),
    );
  });
});
