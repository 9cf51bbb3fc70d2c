import fc from 'fast-check';
import {
  newRecoveryCodes,
  newTotpSecret,
  plainRecoveryCode,
  totpEnrolment,
  totpStep,
} from '../../src/modules/account-security/two-factor/codes.js';
import { isEasilyGuessed } from '../../src/modules/account-security/passwords/password-policy.js';
import {
  newApplicationPassword,
  plainApplicationPassword,
} from '../../src/modules/account-security/application-passwords/application-password-secret.js';
import { Config } from '../../src/config/config.js';
import { Keyring } from '../../src/platform/secrets/keyring.js';
import { SecretBox, UnreadableSecretError } from '../../src/platform/secrets/secret-box.js';
import { Authenticator } from '../support/sign-in/totp.ts';

describe('authenticator codes', () => {
  // RFC 6238, appendix B: the last six of eight digits, for the secret of the SHA-1 column.
  const rfc = Buffer.from('12345678901234567890');
  test.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ])('at %d s match RFC 6238', (seconds, code) => {
    const step = Math.floor(seconds / 30);
    expect(totpStep(rfc, code, seconds * 1000)).toEqual({ step, skew: 0 });
    expect(totpStep(rfc, code, (seconds + 30) * 1000)).toEqual({ step, skew: -1 });
    expect(totpStep(rfc, code, (seconds - 30) * 1000)).toEqual({ step, skew: 1 });
    expect(totpStep(rfc, code, (seconds + 60) * 1000)).toBeNull();
    expect(totpStep(rfc, code, (seconds - 60) * 1000)).toBeNull();
  });

  test('match the enrolment', () => {
    const secret = newTotpSecret();
    expect(secret).toHaveLength(20);
    const { secret: shown } = totpEnrolment(secret, 'Workspace', 'a@b.example');
    expect(totpStep(secret, new Authenticator(shown).code(), Date.now())).not.toBeNull();
  });

  test('other strings are rejected', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!/^\d{6}$/.test(text));
        expect(totpStep(rfc, text, 0)).toBeNull();
      }),
      { examples: [['١٢٣٤٥٦'], ['😀😀😀']] },
    );
  });
});

describe('typed codes', () => {
  test('recovery codes: ten different ones, recognised in any typed form', () => {
    const codes = newRecoveryCodes();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) {
      const plain = code.replace('-', '');
      for (const typed of [code, plain, code.toUpperCase(), ` ${code} `, plain.replaceAll('1', 'I')])
        expect(plainRecoveryCode(typed)).toBe(plain);
    }
  });

  test('any text is a code of ten letters or null', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const plain = plainRecoveryCode(text);
        expect(plain === null || /^[0-9a-hjkmnp-tv-z]{10}$/.test(plain)).toBe(true);
        const password = plainApplicationPassword(text);
        expect(password === null || /^[a-z]{16}$/.test(password)).toBe(true);
      }),
    );
  });

  test('application passwords are 16 letters, recognised in groups', () => {
    const password = newApplicationPassword();
    expect(password).toMatch(/^[a-z]{16}$/);
    expect(plainApplicationPassword(password.toUpperCase().replace(/(.{4})/g, '$1 '))).toBe(password);
  });
});

describe('guessable passwords', () => {
  test.each([
    'password1234',
    'iloveyou1234',
    '1q2w3e4r5t6y',
    'abcabcabcabc',
    'qwertyuiop[]',
    'P@ssw0rd1234',
    'martinmartin',
    'x'.repeat(1000),
  ])('%j is one', (text) => {
    expect(isEasilyGuessed(text, ['alice@acme.example', 'martin'])).toBe(true);
  });

  test.each(['correct horse battery staple', 'seven purple teapots', 'Zq8#vLw2!mKp', 'vier rote Bücher'])(
    '%j is not guessable',
    (text) => {
      expect(isEasilyGuessed(text, ['alice@acme.example'])).toBe(false);
    },
  );
});

describe('the secret box', () => {
  const keyring = { installationId: 'one', derive: () => Buffer.alloc(32, 1) } as unknown as Keyring;
  const box = (keys?: string) => new SecretBox(Config.parse({ SECRET_KEYS: keys }), keyring);
  const [a, b] = ['a'.repeat(32), 'b'.repeat(32)];

  test('opens for the same owner and use only, with random ciphertexts', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (bytes, owner) => {
        const sealed = box(a).seal('use', owner, Buffer.from(bytes));
        expect(Buffer.compare(box(a).open('use', owner, sealed), bytes)).toBe(0);
        expect(box(a).seal('use', owner, Buffer.from(bytes))).not.toBe(sealed);
        expect(() => box(a).open('use', `${owner}x`, sealed)).toThrow(UnreadableSecretError);
        expect(() => box(a).open('another', owner, sealed)).toThrow(UnreadableSecretError);
      }),
    );
  });

  test('detects every change', () => {
    const sealed = box().seal('use', 'me', Buffer.from('secret'));
    const [id, text] = sealed.split('.') as [string, string];
    const bytes = Buffer.from(text, 'base64url');
    for (let n = 0; n < bytes.length; n += 1) {
      const changed = Buffer.from(bytes);
      changed[n]! ^= 1;
      expect(() => box().open('use', 'me', `${id}.${changed.toString('base64url')}`)).toThrow(
        UnreadableSecretError,
      );
    }
    for (const text of ['', '.', id, `${id}.`, `${id}.AAAA`, 'x.AAAA', sealed.slice(0, 30)])
      expect(() => box().open('use', 'me', text)).toThrow(UnreadableSecretError);
  });

  test('opens with an old key after a rotation, and with the key of the installation', () => {
    const [own, old] = [box(), box(a)].map((each) => each.seal('use', 'me', Buffer.from('x')));
    for (const sealed of [own, old])
      expect(
        box(`${b},${a}`)
          .open('use', 'me', sealed as string)
          .toString(),
      ).toBe('x');
    expect(() => box(b).open('use', 'me', old as string)).toThrow(UnreadableSecretError);
    const [now] = box(a).hashes('use', 'me', 'secret');
    expect(box(`${b}, ${a}`).hashes('use', 'me', 'secret')).toContain(now);
    expect(box(`${b}, ${a}`).hashes('use', 'me', 'secret')[0]).not.toBe(now);
    expect(box(a).hashes('use', 'you', 'secret')).not.toContain(now);
  });

  test.each(['short', `${a},short`])(
    '%j is not a list of keys, and the error does not contain it',
    (keys) => {
      expect(() => Config.parse({ SECRET_KEYS: keys })).toThrow(
        /^SECRET_KEYS must be one or more keys.*not shown/,
      );
    },
  );
});
