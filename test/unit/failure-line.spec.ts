import { Config } from '../../src/config/config.js';
import { failureLine } from '../../src/runtime/failure-line.js';

const lookup = (hostname: string, code: string) =>
  Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), { code, syscall: 'getaddrinfo', hostname });

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
});
