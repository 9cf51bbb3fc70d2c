import { Config, ConfigError } from '../../src/config/config.js';
import { failureLine } from '../../src/runtime/failure-line.js';

const systemError = (members: object, message = 'failed') => Object.assign(new Error(message), members);
const lookup = (hostname: string, code: string) =>
  systemError({ code, syscall: 'getaddrinfo', hostname }, `getaddrinfo ${code} ${hostname}`);

describe('the line about a failed start', () => {
  const config = Config.parse({ HOST: 'api.invalid', DATABASE_URL: 'postgres://db.invalid/workspace' });

  it.each(['ENOTFOUND', 'EAI_AGAIN'])('names the setting of the unknown host: %s', (code) => {
    expect(failureLine(lookup('api.invalid', code), config)).toBe(
      'HOST api.invalid is not an address of this machine.',
    );
    expect(failureLine(lookup('db.invalid', code), config)).toBe(
      `The database of DATABASE_URL does not respond (${code}).`,
    );
  });

  it('distinguishes a missing socket of PostgreSQL from a missing file', () => {
    expect(failureLine(systemError({ code: 'ENOENT', syscall: 'connect' }), config)).toBe(
      'The database of DATABASE_URL does not respond (ENOENT).',
    );
    expect(failureLine(systemError({ code: 'ENOENT', syscall: 'open' }), config)).toBeUndefined();
  });

  it('names TLS, and each setting that a file makes invalid', () => {
    expect(failureLine(new Error('self-signed certificate'), config)).toBe(
      'The database of DATABASE_URL rejects the connection: self-signed certificate.',
    );
    expect(failureLine(new ConfigError(['OIDC_CLIENTS: [0] a', 'OIDC_CLIENTS: [1] b']), config)).toBe(
      'OIDC_CLIENTS: [0] a\nOIDC_CLIENTS: [1] b',
    );
  });
});
