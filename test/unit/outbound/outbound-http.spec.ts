import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import type { Config } from '../../../src/config/config.js';
import {
  isPrivateAddress,
  OutboundHttp,
  OutboundHttpError,
} from '../../../src/platform/outbound/outbound-http.js';

/** Limits of the requests of this test. */
const REQUEST = { timeoutMs: 20_000, maxBytes: 1_000, longer: 'reject' } as const;

describe('requests of a public service to addresses that members name', () => {
  const http = new OutboundHttp({ publicUrl: 'https://work.example' } as Config);
  afterAll(() => http.onApplicationShutdown());

  /** What an administrator learns about a name, without the name. */
  async function outcomeOf(name: string): Promise<unknown> {
    const error = await http.request(`https://${name}/`, REQUEST).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutboundHttpError);
    const { problem, message } = error as OutboundHttpError;
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
    await expect(http.request(address, REQUEST)).rejects.toMatchObject({ problem: 'invalid_address' });
  });
});
