import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { readCard } from '../../../src/lib/vcard/index.js';
import { TestApp, type Person } from '../../support/app.ts';

describe('the own card', () => {
  let app: TestApp;
  let alice: Person;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = (await app.tenant('acme', 'alice')) as [Person];
  });
  afterAll(() => app?.stop());

  test.each(['3.0', '4.0'])('downloads as vCard %s', async (version) => {
    const { status, headers, text } = await alice.api.get(`/contact/self/card?version=${version}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/vcard; charset=utf-8']);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename=".+\.vcf"/);
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

  test('rejects unknown versions and formats', async () => {
    for (const path of ['?version=2.1', '/qr?format=gif'])
      expect((await alice.api.get(`/contact/self/card${path}`)).status).toBe(422);
  });
});
