import { provesAddress } from '../../../src/modules/issuers/issuer-accounts.js';

describe('the address in an ID token', () => {
  const email = 'ann@Acme.example';
  const other = { issuer: 'https://login.acme.example', trusts_email: false };
  const google = { issuer: 'https://accounts.google.com', trusts_email: true };

  test.each([
    [{ email_verified: true }, true],
    [{ email_verified: false }, false],
    [{ email_verified: 'true' }, false],
    [{}, false],
  ])('%j proves it for an issuer: %s', (claims, proves) => {
    expect(provesAddress(other, claims, email)).toBe(proves);
  });

  test('an issuer that is trusted for its domains needs no claim', () => {
    expect(provesAddress({ ...other, trusts_email: true }, {}, email)).toBe(true);
  });

  test.each([
    [{ email_verified: true, hd: 'acme.example' }, true],
    [{ email_verified: true, hd: 'ACME.example' }, true],
    [{ email_verified: true }, false],
    [{ email_verified: true, hd: 'other.example' }, false],
    [{ hd: 'acme.example' }, false],
  ])('%j of Google: %s', (claims, proves) => {
    expect(provesAddress(google, claims, email)).toBe(proves);
  });
});
