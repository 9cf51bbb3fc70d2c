import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Config, ConfigError } from '../../src/config/config.js';
import { ROOT } from './support/processes.ts';

function linesOf(env: Record<string, string>): string[] {
  try {
    Config.parse(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
}

describe('.env.example', () => {
  const text = readFileSync(path.join(ROOT, '.env.example'), 'utf8');
  const settings = [...text.matchAll(/^#([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, key, value]) => ({
    key,
    value,
  }));

  it('lists every setting once, in the order of the classes', () => {
    expect(settings.map(({ key }) => key)).toEqual(Config.keys());
  });

  it('shows the defaults', () => {
    const shown = Object.fromEntries(settings.map(({ key, value }) => [key, value]));
    expect(Config.parse(shown)).toEqual(Config.parse({}));
  });

  it('explains each setting', () => {
    for (const { key } of settings) expect(text).toMatch(new RegExp(`^# .+\\n#${key}=`, 'm'));
  });

  it('sets nothing by itself', () => {
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });
});

const UNPARSABLE =
  'must be a valid URL, with special characters of user and password encoded, such as %23 for #';

describe('the configuration', () => {
  it.each([
    ['PORT', '70000', 'PORT must be a whole number from 0 to 65535, not 70000'],
    ['PORT', 'http', 'PORT must be a whole number from 0 to 65535, not "http"'],
    ['DATABASE_POOL_MAX', '0', 'DATABASE_POOL_MAX must be a whole number from 1 to 1000, not 0'],
    ['WEB_CONCURRENCY', '1.5', 'WEB_CONCURRENCY must be a whole number from 0 to 256, not "1.5"'],
    [
      'LOG_LEVEL',
      'loud',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
    ],
    ['DEMO', 'maybe', 'DEMO must be true or false, not "maybe"'],
    [
      'PUBLIC_URL',
      'example.com',
      'PUBLIC_URL must be a URL beginning with http:// or https://, not "example.com"',
    ],
    ...['https://work.example/base', 'https://work.example/?a=b', 'https://me@work.example'].map((value) => [
      'PUBLIC_URL',
      value,
      'PUBLIC_URL must be an address without path, query, fragment, user or password',
    ]),
    [
      'DNS_SERVERS',
      '10.0.0.1,999.0.0.1',
      'DNS_SERVERS must be a comma-separated list of IP addresses, each with an optional port',
    ],
    ['MAIL_SERVICE_MODE', 'root', 'MAIL_SERVICE_MODE must be one of user, service, not "root"'],
    ['MAIL_ACCOUNTS', 'all', 'MAIL_ACCOUNTS must be one of create, link, not "all"'],
    [
      'MAIL_ACCOUNTS',
      'link',
      'MAIL_SERVICE_URL must be set when MAIL_ACCOUNTS is link: the embedded mail service has none to link',
    ],
    ['MAIL_ACCOUNT_DOMAIN', 'a@b', 'MAIL_ACCOUNT_DOMAIN must be a domain name in lower case, not "a@b"'],
    [
      'MAIL_SERVICE_URL',
      'http://user:secret@mail.example/?token=x',
      'MAIL_SERVICE_URL must be an address without query, fragment, user or password',
    ],
    ...['PUBLIC_URL', 'MAIL_SERVICE_URL', 'OIDC_JWKS_URL', 'WEB_CLIENT_URL'].map((key) => [
      key,
      'http://[',
      `${key} ${UNPARSABLE}, not "http://["`,
    ]),
    ...['postgres://user:hunter#2@db/x', 'postgres://user:hunter/2@db/x', 'postgres://user:hunter%@db/x'].map(
      (value) => ['DATABASE_URL', value, `DATABASE_URL ${UNPARSABLE}, not (a secret, not shown)`],
    ),
    ['SMTP_URL', 'smtp://relay:99999', `SMTP_URL ${UNPARSABLE}, not (a secret, not shown)`],
    [
      'ASSISTANT_URL',
      'ftp://user:hunter2@model.example/v1',
      'ASSISTANT_URL must be a URL beginning with http:// or https://, not "ftp://model.example/v1"',
    ],
    ...['fade', '10.0.0.1/33', '10.0.0.0/8, ::1/129', '10.0.0.0/0', '300.0.0.1', 'true'].map((value) => [
      'TRUST_PROXY',
      value,
      `TRUST_PROXY must be false, loopback, a number of hops or a comma-separated list of addresses, not "${value}"`,
    ]),
    ['DOCX_CONVERTER', 'word', 'DOCX_CONVERTER must be one of embedded, libreoffice, off, not "word"'],
    [
      'DATABASE_URL',
      'mysql://root:secret@db/x',
      'DATABASE_URL must be a URL beginning with postgres:// or postgresql://, not (a secret, not shown)',
    ],
  ] as [string, string, string][])('reports %s=%s with one line', (key, value, line) => {
    expect(linesOf({ [key]: value })).toEqual([line]);
  });

  const S3 = 's3://bucket/some/prefix?endpoint=http://127.0.0.1:9000&region=eu-west-1';

  it.each<[string, object]>([
    ['file:///srv/my%20files', { kind: 'file', directory: '/srv/my files' }],
    ['s3://bucket', { kind: 's3', bucket: 'bucket', prefix: '', pathStyle: false }],
    ['s3://bucket?region=x&path_style=true', { bucket: 'bucket', region: 'x', pathStyle: true }],
    [S3, { prefix: 'some/prefix/', endpoint: 'http://127.0.0.1:9000', region: 'eu-west-1', pathStyle: true }],
    [`${S3}&path_style=false`, { pathStyle: false }],
  ])('reads BLOB_STORE_URL=%s', (url, settings) => {
    expect(Config.parse({ BLOB_STORE_URL: url }).blobStore).toMatchObject(settings);
  });

  it('keeps files under DATA_DIR by default', () => {
    const directory = path.join(path.resolve('elsewhere'), 'blobs');
    expect(Config.parse({ DATA_DIR: 'elsewhere' }).blobStore).toEqual({ kind: 'file', directory });
  });

  it.each([
    ['ftp://host/x', 'must be a URL beginning with file:/// or s3://'],
    ['nonsense', 'must be a URL beginning with file:/// or s3://'],
    ['file://host/x', 'must name a directory of this machine: file:///path'],
    ['file:///', 'must name a directory of this machine: file:///path'],
    ['file:///a%00b', 'must name a directory of this machine: file:///path'],
    ['s3://UP/x', 'must name a bucket: s3://bucket'],
    ['s3://bucket:80', 'must name a bucket: s3://bucket'],
    ['s3://id:hunter2@bucket', 'must not contain credentials'],
    ['s3://bucket?secret=hunter2', 'may have the parameters endpoint, region and path_style'],
    ['s3://bucket?region=a&region=b', 'may have the parameters endpoint, region and path_style'],
    ['s3://bucket?endpoint=http://id:hunter2@host', 'without credentials as its endpoint'],
    ['s3://bucket?path_style=maybe', 'must have path_style=true or false'],
    ['s3://bucket/a?b/c d', 'may have the parameters'],
    ['s3://bucket/%2e%2e%2fx', 'must have a prefix of letters, digits'],
  ])('rejects BLOB_STORE_URL=%s without repeating it', (url, reason) => {
    const lines = linesOf({ BLOB_STORE_URL: url });
    expect(lines).toEqual([expect.stringContaining(`BLOB_STORE_URL `)]);
    expect(lines[0]).toContain(reason);
    expect(lines[0]).not.toContain('hunter2');
  });

  it.each([
    ['DATABASE_URL', 'postgres://user:a%23b@/workspace?host=/run/postgresql'],
    ['DATABASE_URL', 'postgres:///workspace'],
    ['TRUST_PROXY', '10.0.0.0/8, ::1, fd00::/64, 192.168.0.0/255.255.0.0'],
    ['TRUST_PROXY', 'loopback'],
  ])('accepts %s=%s', (key, value) => {
    expect(linesOf({ [key]: value })).toEqual([]);
  });

  it('reports all invalid settings together', () => {
    expect(linesOf({ PORT: 'x', LOG_LEVEL: 'y', TOKEN_TTL: '1' })).toHaveLength(3);
  });

  it('treats an empty value as unset, and ignores unknown variables', () => {
    expect(Config.parse({ PORT: '', DATABASE_URL: ' ', HOME: '/root' })).toEqual(Config.parse({}));
  });

  it('accepts a mail service that the process runs itself', () => {
    const config = Config.parse({ PORT: '7' });
    expect(config.mailService).toBeNull();
    const own = config.withMailService({ url: 'http://127.0.0.1:4711', token: 'own' });
    expect(own.mailService).toEqual({ url: 'http://127.0.0.1:4711', token: 'own' });
    expect([own.PORT, own.embeddedDatabase, Object.isFrozen(own), config.mailService]).toEqual([
      7,
      true,
      true,
      null,
    ]);
    expect(Config.parse({ MAIL_SERVICE_URL: 'http://mail.example/api/' }).mailService).toEqual({
      url: 'http://mail.example/api',
      token: undefined,
    });
  });

  it('reports a .env that is a directory, as Docker makes of a missing file', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'env-'));
    expect(() => Config.load(directory)).toThrow(ConfigError);
    expect(() => Config.load(directory)).toThrow(`${directory} cannot be read: EISDIR`);
  });

  it('is frozen', () => {
    expect(Object.isFrozen(Config.parse({}))).toBe(true);
  });
});
