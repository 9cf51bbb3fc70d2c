import { jest } from '@jest/globals';
import {
  type CryptoKey,
  createRemoteJWKSet,
  decodeProtectedHeader,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { v7 as uuidv7 } from 'uuid';
import { AccessTokens, AUDIENCE } from '../../../src/modules/identity/tokens/access-tokens.js';
import { AccessWatch } from '../../../src/modules/identity/access-watch.js';
import { IdentityApi } from '../../../src/modules/identity/identity.api.js';
import { IdentityRepository } from '../../../src/modules/identity/identity.repository.js';
import { ALGORITHM, SigningKeys } from '../../../src/modules/identity/tokens/signing-keys.js';
import { TenantsApi } from '../../../src/modules/tenants/index.js';
import { type ProvisionedUser, provision } from '../../../src/provision/provision.js';
import { Db } from '../../../src/platform/database/db.js';
import { TokenResolver } from '../../../src/platform/context/request-context.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { until } from '../../support/until.ts';

const isRefused = ({ status, headers, body }: ApiResponse, challenge = 'Bearer error="invalid_token"') => {
  expect({ status, challenge: headers.get('www-authenticate'), body }).toEqual({
    status: 401,
    challenge,
    body: { error: 'unauthorized', message: expect.any(String) },
  });
};

describe('access tokens', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const identity = () => app.get<IdentityApi>(IdentityApi);
  const fresh = async (user: TestUser, ttl?: number): Promise<string> => {
    const [token] = await identity().issueTokens(
      [{ accountId: user.id, tenantId: user.tenantId }],
      'test',
      ttl,
    );
    return token as string;
  };
  /** A valid token of Alice with changed claims, signed with the real key by default. */
  const forged = async (
    claims: object = {},
    header: object = {},
    key?: CryptoKey | Uint8Array,
  ): Promise<string> => {
    const { payload } = await jwtVerify(
      await fresh(alice),
      createRemoteJWKSet(new URL(`${app.base}/apis/v1/.well-known/jwks.json`)),
    );
    const current = await app.get<SigningKeys>(SigningKeys).readCurrent();
    return new SignJWT({ ...payload, ...claims })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt', kid: current.id, ...header })
      .sign(key ?? current.key);
  };

  describe('shape', () => {
    test('follows RFC 9068, and verifies with the published keys', async () => {
      const jwks = createRemoteJWKSet(new URL(`${app.base}/apis/v1/.well-known/jwks.json`));
      const { payload, protectedHeader } = await jwtVerify(alice.token, jwks, {
        typ: 'at+jwt',
        audience: 'workspace',
      });
      expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
      const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
      expect(payload).toEqual({
        iss: expect.stringMatching(/^urn:workspace:[0-9a-f-]{36}$/),
        aud: 'workspace',
        sub: alice.id,
        tid: alice.tenantId,
        sid: uuid,
        jti: uuid,
        client_id: 'workspace-cli',
        iat: expect.any(Number),
        exp: (payload.iat as number) + 43_200,
      });
      const session = await app.sql('SELECT account_id, tenant_id FROM sessions WHERE id = $1', [
        payload['sid'],
      ]);
      expect(session).toEqual([{ account_id: alice.id, tenant_id: alice.tenantId }]);
    });

    test('the key set contains no private key and needs no token', async () => {
      const { status, body } = await app.anonymous.get('/.well-known/jwks.json');
      expect(status).toBe(200);
      for (const key of body.keys)
        expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
      expect(body.keys).toHaveLength(1);
    });

    test('a token without a workspace has no tid claim, and reaches no workspace route', async () => {
      const loner = await app.userWithoutWorkspace('loner');
      const { payload } = await jwtVerify(
        loner.token,
        createRemoteJWKSet(new URL(`${app.base}/apis/v1/.well-known/jwks.json`)),
      );
      expect(payload).not.toHaveProperty('tid');
      const { status, body } = await loner.api.get('/notes');
      expect([status, body.error]).toEqual([403, 'workspace_forbidden']);
      expect((await loner.api.post('/notes', { title: 7 })).body.error).toBe('workspace_forbidden');
    });
  });

  describe('rejected', () => {
    const using = async (authorization: string) =>
      app.anonymous.get('/notes', { headers: { authorization } });

    test('missing tokens, other schemes and malformed headers', async () => {
      const token = await fresh(alice);
      // RFC 6750, section 3: no error code without a bearer token.
      isRefused(await app.anonymous.get('/notes'), 'Bearer');
      for (const header of ['', `Basic ${token}`, token, `Token ${token}`])
        isRefused(await using(header), 'Bearer');
      for (const header of [
        'Bearer',
        'Bearer ',
        `Bearer  ${token}`,
        `Bearer ${token} x`,
        `Bearer ${token}, Bearer ${token}`,
        `Bearer "${token}"`,
      ]) {
        isRefused(await using(header));
      }
      expect((await using(`bearer ${token}`)).status).toBe(200);
    });

    test('a token only in the query or in the body', async () => {
      const token = await fresh(alice);
      isRefused(await app.anonymous.get(`/notes?access_token=${token}`), 'Bearer');
      isRefused(await app.anonymous.post('/notes', { access_token: token }), 'Bearer');
      const form = {
        raw: `access_token=${token}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      };
      isRefused(await app.anonymous.post('/notes', undefined, form), 'Bearer');
    });

    test('malformed tokens', async () => {
      const [header, payload, signature] = (await fresh(alice)).split('.') as [string, string, string];
      const broken = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
      for (const token of [
        'x',
        'a.b.c',
        '..',
        `${header}.${payload}`,
        `${header}.${payload}.`,
        `${header}.${payload}.${broken}`,
        `${header}.${payload}.${signature}.`,
        'A'.repeat(8000),
      ]) {
        isRefused(await using(`Bearer ${token}`));
      }
    });

    test.each<[string, () => Promise<string>]>([
      [
        'alg none',
        async () =>
          new UnsecuredJWT({ sub: alice.id, sid: uuidv7() })
            .setAudience(AUDIENCE)
            .setExpirationTime('1h')
            .encode(),
      ],
      [
        'HS256 with the public key for a secret',
        async () =>
          forged({}, { alg: 'HS256' }, new TextEncoder().encode(await exportSPKI(await publicKey()))),
      ],
      [
        'another key under our key id',
        async () => forged({}, {}, (await generateKeyPair(ALGORITHM)).privateKey),
      ],
      [
        'an unknown key',
        async () => forged({}, { kid: uuidv7() }, (await generateKeyPair(ALGORITHM)).privateKey),
      ],
      ['no key id', async () => forged({}, { kid: undefined })],
      ['another type', async () => forged({}, { typ: 'JWT' })],
      ['expired', async () => forged({ exp: Math.floor(Date.now() / 1000) - 60 })],
      ['without expiry', async () => forged({ exp: undefined })],
      ['not valid yet', async () => forged({ nbf: Math.floor(Date.now() / 1000) + 600 })],
      ['issued in the future', async () => forged({ iat: Math.floor(Date.now() / 1000) + 600 })],
      ['wrong audience', async () => forged({ aud: 'another service' })],
      ['no audience', async () => forged({ aud: undefined })],
      ['wrong issuer', async () => forged({ iss: 'urn:workspace:0199aaaa-bbbb-7ccc-8ddd-eeeeffff0001' })],
      ["another user's session", async () => forged({ sub: bob.id })],
      ['a session for another workspace', async () => forged({ tid: uuidv7() })],
      ['an unknown session', async () => forged({ sid: uuidv7() })],
      ['without session', async () => forged({ sid: undefined })],
      ['a subject that is no id', async () => forged({ sub: "'; DROP TABLE accounts" })],
      ['a workspace that is no id', async () => forged({ tid: 'acme' })],
      [
        'a session that has ended',
        async () => {
          const token = await fresh(alice);
          await app.sql(
            `UPDATE sessions SET expires_at = now() - interval '1 minute' WHERE id = (SELECT id FROM sessions ORDER BY id DESC LIMIT 1)`,
          );
          return token;
        },
      ],
    ])('%s', async (_, make) => {
      isRefused(await using(`Bearer ${await make()}`));
    });

    test('a valid token made the same way is accepted', async () => {
      expect((await using(`Bearer ${await forged()}`)).status).toBe(200);
    });

    async function publicKey(): Promise<CryptoKey> {
      const { protectedHeader } = { protectedHeader: decodeProtectedHeader(await fresh(alice)) };
      return app.get<SigningKeys>(SigningKeys).resolve(protectedHeader as never);
    }

    test('a cached token is rejected after its expiry', async () => {
      const token = await fresh(alice, 5);
      expect((await using(`Bearer ${token}`)).status).toBe(200);
      const value = await until('the expiry', async () => {
        const response = await using(`Bearer ${token}`);
        return response.status !== 200 && response;
      });
      isRefused(value);
    });
  });

  describe('cost', () => {
    test('a cached token needs no signature check and no round trip: a read is one', async () => {
      const { body } = await alice.api.post('/notes', { title: 'warm' });
      await alice.api.get(`/notes/${body.note.id}`);
      const check = jest.spyOn(app.get<AccessTokens>(AccessTokens), 'verify');
      const db = app.get<Db>(Db);
      const ten = async (): Promise<number> => {
        const before = db.roundTrips;
        for (let n = 0; n < 10; n += 1) {
          expect((await alice.api.get(`/notes/${body.note.id}`)).status).toBe(200);
        }
        return db.roundTrips - before;
      };
      try {
        // Timers of the application also query the database.
        await until('ten reads without other queries', async () => (await ten()) === 10);
        expect(check).not.toHaveBeenCalled();
        await app.as(await fresh(alice)).get(`/notes/${body.note.id}`);
        expect(check).toHaveBeenCalledTimes(1);
      } finally {
        check.mockRestore();
      }
    });
  });

  test('concurrently verified tokens are not confused', async () => {
    const names = Array.from({ length: 10 }, (_, n) => `p${n}`);
    const people = await app.tenant('crowd', ...names);
    await Promise.all(people.map((user) => user.api.post('/notes', { title: user.email })));
    const cold = await Promise.all(people.map(async (user) => app.as(await fresh(user)).get('/notes')));
    expect(cold.map(({ body }) => body.notes[0].title)).toEqual(people.map((user) => user.email));
  });

  describe('revoked', () => {
    let second: TestApp;

    beforeAll(async () => {
      second = await TestApp.start({}, app.databaseUrl);
    });
    afterAll(() => second?.stop());

    /** Lets both processes cache the tokens, runs `change` in the first one, and expects both to reject them. */
    const lost = async (tokens: string[], change: () => Promise<unknown>): Promise<void> => {
      const clients = [app, second].flatMap((each) => tokens.map((token) => each.as(token)));
      for (const client of clients) expect((await client.get('/notes')).status).toBe(200);
      await change();
      for (const each of [app, second]) await each.readAccessChanges();
      const rejected = clients.map((client) =>
        until('the rejection', async () => {
          const response = await client.get('/notes');
          return response.status !== 200 && response;
        }),
      );
      for (const response of await Promise.all(rejected)) isRefused(response);
    };

    test('a revoked session is rejected in every process within 5 seconds, a new one is not', async () => {
      const [carol, dave] = await app.tenant('revoked', 'carol', 'dave');
      await lost([carol.token, await fresh(carol)], async () =>
        expect(await identity().revokeSessions(carol.id)).toBe(2),
      );
      expect((await second.as(await fresh(carol)).get('/notes')).status).toBe(200);
      expect((await second.as(dave.token).get('/notes')).status).toBe(200);
    });

    test('a member deactivated in one workspace keeps the other', async () => {
      const users = [{ email: 'erin@both.example', name: 'Erin' }];
      const { users: made } = await provision(
        app.served.nest,
        {
          tenants: [
            { slug: 'one', users },
            { slug: 'two', users },
          ],
        },
        true,
      );
      const [one, two] = made as [Required<ProvisionedUser>, Required<ProvisionedUser>];
      await lost([one.token], () =>
        app.get<Db>(Db).tx(async (tx) => {
          await app.get<TenantsApi>(TenantsApi).setMemberStatus(tx, one.id, one.tenant_id!, 'deactivated');
          await identity().recordAccessChange(tx, one.id, one.tenant_id);
        }),
      );
      for (const each of [app, second]) expect((await each.as(two.token).get('/notes')).status).toBe(200);
    });

    test('a closed account is rejected, without workspace too', async () => {
      const [frank] = await app.tenant('closed', 'frank');
      const [bare] = await identity().issueTokens([{ accountId: frank.id, tenantId: null }], 'test');
      expect((await second.as(bare as string).get('/notes')).status).toBe(403);
      await lost([frank.token], () => app.get<Db>(Db).tx((tx) => identity().deactivate(tx, frank.id)));
      isRefused(await app.as(bare as string).get('/notes'));
      await until(
        'the rejection',
        async () => (await second.as(bare as string).get('/notes')).status === 401,
      );
    });

    test('a changed role takes effect in every process', async () => {
      const [, heidi] = await app.tenant('roles', 'grace', 'heidi');
      const roles = () =>
        Promise.all([app, second].map(async (each) => (await resolve(each, heidi.token))?.role));
      expect(await roles()).toEqual(['member', 'member']);
      const users = [{ email: heidi.email, name: 'Heidi', role: 'admin' as const }];
      await provision(app.served.nest, { tenants: [{ slug: 'roles', users }] });
      for (const each of [app, second]) await each.readAccessChanges();
      await until('the new role', async () => (await roles()).every((role) => role === 'admin'));
    });

    test('a verification in flight while the session is revoked is not cached', async () => {
      const [ivan] = await app.tenant('racing', 'ivan');
      const repository = app.get<IdentityRepository>(IdentityRepository);
      const read = repository.bySession.bind(repository);
      // The verification reads the account before the revocation, and ends after the process has read the change.
      const slow = jest.spyOn(repository, 'bySession').mockImplementationOnce(async (...args) => {
        const account = await read(...args);
        await identity().revokeSessions(ivan.id);
        await app.get<AccessWatch>(AccessWatch).poll();
        return account;
      });
      try {
        await ivan.api.get('/notes');
        expect(slow).toHaveBeenCalledTimes(1);
      } finally {
        slow.mockRestore();
      }
      isRefused(await ivan.api.get('/notes'));
    });

    const resolve = async (each: TestApp, token: string) => {
      const resolver = each.get<TokenResolver>(TokenResolver);
      return resolver.cached(token) ?? resolver.resolve(token);
    };
  });

  describe('key rotation', () => {
    test('old tokens stay valid, new ones use the new key, other processes load it', async () => {
      const second = await TestApp.start({}, app.databaseUrl);
      try {
        const old = await fresh(alice);
        const kid = await identity().rotateSigningKey();
        const token = await fresh(alice);
        expect([decodeProtectedHeader(old).kid === kid, decodeProtectedHeader(token).kid]).toEqual([
          false,
          kid,
        ]);
        for (const each of [app, second]) {
          expect((await each.as(old).get('/notes')).status).toBe(200);
          expect((await each.as(token).get('/notes')).status).toBe(200);
          const { body } = await each.anonymous.get('/.well-known/jwks.json');
          expect(body.keys.map((key: { kid: string }) => key.kid)).toContain(kid);
        }
        const [issued] = await second
          .get<IdentityApi>(IdentityApi)
          .issueTokens([{ accountId: alice.id, tenantId: null }], 'test');
        expect(decodeProtectedHeader(issued as string).kid).toBe(kid);
        const next = await identity().rotateSigningKey();
        await until('the new key in the other process, which has seen no token of it', async () => {
          const { body } = await second.anonymous.get('/.well-known/jwks.json');
          return body.keys.some((key: { kid: string }) => key.kid === next);
        });
      } finally {
        await second.stop();
      }
    });

    describe('private keys', () => {
      const [first, second] = ['a'.repeat(40), 'b'.repeat(40)];
      const rows = () =>
        app.sql<{ id: string; private_jwk: object | null; sealed: string }>(
          'SELECT id, private_jwk, sealed_private_key AS sealed FROM signing_keys ORDER BY id',
        );
      /** The prefixes of all encrypted keys. */
      const sealedWith = async () => [...new Set((await rows()).map(({ sealed }) => sealed.split('.')[0]))];
      const onStart = async (settings: Record<string, string>, check: (each: TestApp) => Promise<void>) => {
        const each = await TestApp.start(settings, app.databaseUrl);
        try {
          await check(each);
        } finally {
          await each.stop();
        }
      };

      test('are encrypted, and encrypted again when the first of SECRET_KEYS changes', async () => {
        const token = await fresh(alice);
        for (const row of await rows()) {
          expect(row.private_jwk).toBeNull();
          expect(row.sealed).not.toContain('"d"');
        }
        expect(await sealedWith()).toEqual(['own']);
        const works = async (each: TestApp) => {
          expect((await each.as(token).get('/notes')).status).toBe(200);
          const api = each.get<IdentityApi>(IdentityApi);
          const [issued] = await api.issueTokens([{ accountId: alice.id, tenantId: alice.tenantId }], 'test');
          expect((await app.as(issued!).get('/notes')).status).toBe(200);
        };
        await onStart({ SECRET_KEYS: first }, works);
        const [before] = await sealedWith();
        expect(before).not.toBe('own');
        await onStart({ SECRET_KEYS: `${second},${first}` }, works);
        const after = await sealedWith();
        expect(after).toHaveLength(1);
        expect(after[0]).not.toBe(before);
        // The first key is not needed any more; without the second the service does not start.
        await onStart({ SECRET_KEYS: second }, works);
        await expect(TestApp.start({}, app.databaseUrl)).rejects.toThrow('SECRET_KEYS lacks the key');
        await app.sql('DELETE FROM signing_keys');
        await identity().rotateSigningKey();
      });

      test('of an earlier version, stored in clear, are encrypted at the start', async () => {
        const pair = await generateKeyPair(ALGORITHM, { extractable: true });
        const [publicJwk, privateJwk] = await Promise.all([
          exportJWK(pair.publicKey),
          exportJWK(pair.privateKey),
        ]);
        const id = uuidv7();
        await app.sql('UPDATE signing_keys SET retired_at = now()');
        await app.sql(
          'INSERT INTO signing_keys (id, algorithm, public_jwk, private_jwk) VALUES ($1, $2, $3, $4)',
          [id, ALGORITHM, publicJwk, privateJwk],
        );
        await onStart({}, async (each) => {
          const stored = (await rows()).find((row) => row.id === id)!;
          expect([stored.private_jwk, stored.sealed.startsWith('own.')]).toEqual([null, true]);
          const current = await each.get<SigningKeys>(SigningKeys).readCurrent();
          expect(current.id).toBe(id);
          const [token] = await each
            .get<IdentityApi>(IdentityApi)
            .issueTokens([{ accountId: alice.id, tenantId: alice.tenantId }], 'test');
          expect((await each.as(token!).get('/notes')).status).toBe(200);
        });
      });
    });

    test('a key retired longer ago than any token lifetime verifies nothing', async () => {
      const old = await fresh(bob);
      const oldKid = decodeProtectedHeader(old).kid as string;
      await identity().rotateSigningKey();
      await app.sql(`UPDATE signing_keys SET retired_at = now() - interval '400 days' WHERE id = $1`, [
        oldKid,
      ]);
      const second = await TestApp.start({}, app.databaseUrl);
      try {
        isRefused(await second.as(old).get('/notes'));
        const { body } = await second.anonymous.get('/.well-known/jwks.json');
        expect(body.keys.map((key: { kid: string }) => key.kid)).not.toContain(oldKid);
      } finally {
        await second.stop();
      }
    });
  });
});
