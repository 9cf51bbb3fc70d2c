import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import type { Config } from '../../../src/config/config.js';
import { IssuerHttp, IssuerHttpError } from '../../../src/modules/issuers/outbound/issuer-http.js';
import { isPrivateAddress } from '../../../src/modules/issuers/outbound/private-addresses.js';

describe('requests to issuers of a public service', () => {
  const http = new IssuerHttp({ publicUrl: 'https://work.example' } as Config);
  afterAll(() => http.onApplicationShutdown());

  /** What an administrator learns about a name, without the name. */
  async function outcomeOf(name: string): Promise<unknown> {
    const error = await http.fetch(`https://${name}/`, {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IssuerHttpError);
    const { problem, message } = error as IssuerHttpError;
    return { problem, message: message.replace(name, '<name>') };
  }

  test('an unknown name and a name of a private address have the same outcome', async () => {
    const unknown = await outcomeOf('no-such-name.invalid');
    expect(unknown).toEqual({ problem: 'unreachable', message: 'https://<name>/ has no public address' });
    // The name of a machine is usually that of a private address; where it is unknown, the outcome is the same anyway.
    const own = hostname().toLowerCase();
    const addresses = await lookup(own, { all: true }).catch(() => []);
    if (addresses.every(({ address }) => isPrivateAddress(address)))
      expect(await outcomeOf(own)).toEqual(unknown);
  });

  test.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://localhost/',
    'http://issuer.example/',
  ])('no connection is made to %s', async (address) => {
    await expect(http.fetch(address, {})).rejects.toMatchObject({ problem: 'invalid_address' });
  });
});
