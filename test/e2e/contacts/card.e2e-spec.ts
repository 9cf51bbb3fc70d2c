import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { readCard } from '../../../src/lib/vcard/index.js';
import { TestApp, type TestUser } from '../../support/app.ts';

describe('representations of a contact', () => {
  let app: TestApp;
  let alice: TestUser;
  let path: string;
  let contact: any;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    const book = (await alice.api.post('/contact/addressbooks', { name: 'Cards' })).body.addressbook;
    const made = await alice.api.post(`/contact/addressbooks/${book.id}/contacts`, {
      uid: '4fbe8971-0bc3-424c-9c26-36c3e1eff6b1',
      name: { given: 'Maria', family: 'Silva' },
      emails: [{ value: 'maria@example.com', types: ['work', 'x-own'], primary: true }],
      phones: [{ value: '+420 601 123 456', types: ['cell', 'home'], label: 'Boat' }],
      addresses: [{ locality: 'Prague', country_code: 'CZ', label: 'Summer house' }],
      dates: [{ type: 'birthday', month: 4, day: 30 }],
      custom: [{ name: 'X-OWN', params: { 'X-P': ['a'] }, value: 'b\\,c' }],
    });
    contact = made.body.contact;
    path = `/contact/addressbooks/${book.id}/contacts/${contact.external_id}`;
  });
  afterAll(() => app?.stop());

  const read = (accept: string) => alice.api.get(path, { headers: { accept } });

  test.each([
    ['text/vcard', '3.0'],
    ['text/vcard; version=4.0, */*;q=0.1', '4.0'],
    ['text/vcard;version=3.0', '3.0'],
  ])('Accept: %s is vCard %s', async (accept, version) => {
    const { status, headers, text } = await read(accept);
    expect([status, headers.get('content-type')]).toEqual([
      200,
      `text/vcard; version=${version}; charset=utf-8`,
    ]);
    expect([headers.get('etag'), headers.get('vary')]).toEqual([`"contact:${contact.id}:r1"`, 'Accept']);
    const { uid, full_name, name, emails, addresses, dates, custom } = contact;
    const shared = { uid, full_name, name, emails, addresses, dates, custom };
    expect(readCard(text)).toMatchObject({
      ...shared,
      phones: [{ value: '+420 601 123 456', label: 'Boat' }],
    });
  });

  test('Accept: application/jscontact+json is JSContact, which keeps fields without a JSContact property', async () => {
    const { status, headers, text } = await read('application/jscontact+json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/jscontact+json; version=1.0']);
    expect(JSON.parse(text)).toEqual({
      '@type': 'Card',
      version: '1.0',
      uid: 'urn:uuid:4fbe8971-0bc3-424c-9c26-36c3e1eff6b1',
      kind: 'individual',
      updated: contact.updated_at.replace(/\.\d+/, ''),
      name: {
        full: 'Maria Silva',
        components: [
          { kind: 'given', value: 'Maria' },
          { kind: 'surname', value: 'Silva' },
        ],
      },
      emails: {
        k1: {
          address: 'maria@example.com',
          contexts: { work: true },
          pref: 1,
          vCardParams: { type: ['x-own'] },
        },
      },
      phones: {
        k1: {
          number: '+420 601 123 456',
          contexts: { private: true },
          features: { mobile: true },
          label: 'Boat',
        },
      },
      addresses: {
        k1: {
          components: [{ kind: 'locality', value: 'Prague' }],
          countryCode: 'CZ',
          vCardParams: { group: 'adr1' },
        },
      },
      anniversaries: { k1: { kind: 'birth', date: { '@type': 'PartialDate', month: 4, day: 30 } } },
      vCardProps: [
        ['x-own', { 'x-p': 'a' }, 'unknown', 'b\\,c'],
        ['x-ablabel', { group: 'adr1' }, 'text', 'Summer house'],
      ],
    });
  });

  test.each(['application/json', '*/*', 'text/html,application/xhtml+xml;q=0.9', ''])(
    'Accept: %j is JSON',
    async (accept) => {
      const { body, headers } = await read(accept);
      expect([body, headers.get('etag')]).toEqual([{ contact }, `"contact:${contact.id}:r1"`]);
    },
  );

  test('an unknown contact is 404 in each representation', async () => {
    for (const accept of ['text/vcard', 'application/jscontact+json']) {
      const { status, body } = await alice.api.get(`${path}x`, { headers: { accept } });
      expect([status, body.error]).toEqual([404, 'not_found']);
    }
  });
});

describe('the own card', () => {
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());

  test.each(['3.0', '4.0'])('downloads as vCard %s', async (version) => {
    const { status, headers, text } = await alice.api.get(`/contact/self/card?version=${version}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/vcard; charset=utf-8']);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename=.+\.vcf/);
    expect(text).toContain(`VERSION:${version}\r\n`);
    expect(readCard(text)).toMatchObject({ uid: alice.id, emails: [{ value: alice.email }] });
  });

  test('a camera reads the QR code as the card', async () => {
    const { headers } = await alice.api.get('/contact/self/card/qr');
    expect(headers.get('content-type')).toBe('image/png');
    const response = await fetch(`${alice.api.base}/apis/v1/contact/self/card/qr`, {
      headers: { authorization: `Bearer ${alice.api.token}` },
    });
    const { data, width, height } = PNG.sync.read(Buffer.from(await response.arrayBuffer()));
    const text = jsQR.default(new Uint8ClampedArray(data), width, height)?.data ?? '';
    const own = readCard((await alice.api.get('/contact/self/card')).text);
    expect(readCard(text)).toMatchObject({ full_name: own.full_name, emails: own.emails });
  });

  test('the QR code is also an SVG, which browsers show without scripts', async () => {
    const { headers, text } = await alice.api.get('/contact/self/card/qr?format=svg');
    expect(headers.get('content-type')).toBe('image/svg+xml');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'|sandbox/);
    expect(text).toMatch(/^<svg /);
  });

  test('the QR code leaves labels out before it is too large', async () => {
    const label = '\u4e2d'.repeat(1000);
    const phones = [{ value: '+420 601 123 456', label }];
    expect((await alice.api.put('/contact/self', { phones })).status).toBe(200);
    expect((await alice.api.get('/contact/self/card/qr')).status).toBe(200);
  });

  test('rejects unknown versions and formats', async () => {
    for (const path of ['?version=2.1', '/qr?format=gif'])
      expect((await alice.api.get(`/contact/self/card${path}`)).status).toBe(422);
  });
});
