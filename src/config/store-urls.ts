/** The parsed `BLOB_STORE_URL`. */
export type BlobStoreSettings =
  | { kind: 'file'; directory: string }
  | {
      kind: 's3';
      bucket: string;
      /** Prefix of object names: empty, or with a slash at the end. */
      prefix: string;
      /** URL of an S3-compatible service; undefined for Amazon S3. */
      endpoint?: string;
      region?: string;
      /** The bucket is in the path instead of the host name, as most services other than Amazon S3 require. */
      pathStyle: boolean;
    };

/** The rules of Amazon S3 for general purpose buckets. */
const BUCKET = /^(?=.{3,63}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])$/;
const PARAMETERS = new Set(['endpoint', 'region', 'path_style']);

/**
 * @param text `file:///directory`, or `s3://bucket[/prefix][?endpoint=URL][&region=NAME][&path_style=true|false]`
 * @throws Error with the rule that the text violates. The message does not repeat the text, which may contain a secret.
 */
export function parseBlobStoreUrl(text: string): BlobStoreSettings {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password) {
    throw new Error(
      'must not contain credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use another credential source of the AWS SDK',
    );
  }
  if (url?.protocol === 'file:') return fileSettings(url);
  if (url?.protocol === 's3:') return s3Settings(url);
  throw new Error('must be a URL beginning with file:/// or s3://');
}

function fileSettings(url: URL): BlobStoreSettings {
  if (url.host !== '' || url.search !== '' || url.pathname.length < 2) {
    throw new Error('must name a directory of this machine: file:///path');
  }
  try {
    const directory = decodeURIComponent(url.pathname);
    if (!directory.includes('\0')) return { kind: 'file', directory };
  } catch {
    // Invalid percent encoding.
  }
  throw new Error('must name a directory of this machine: file:///path');
}

function s3Settings(url: URL): BlobStoreSettings {
  const { hostname: bucket, searchParams } = url;
  if (url.port !== '' || !BUCKET.test(bucket)) throw new Error('must name a bucket: s3://bucket');
  const invalid = [...searchParams.keys()].find(
    (key) => !PARAMETERS.has(key) || searchParams.getAll(key).length > 1,
  );
  if (invalid !== undefined) {
    throw new Error('may have the parameters endpoint, region and path_style, once each, and no others');
  }
  const endpoint = searchParams.get('endpoint') || undefined;
  if (endpoint !== undefined && !isPlainHttpUrl(endpoint)) {
    throw new Error('must have an http:// or https:// URL without credentials as its endpoint');
  }
  const pathStyle = searchParams.get('path_style') ?? String(endpoint !== undefined);
  if (pathStyle !== 'true' && pathStyle !== 'false') throw new Error('must have path_style=true or false');
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  if (!/^[\w.\-/]{0,500}$/.test(prefix)) {
    throw new Error('must have a prefix of letters, digits and . _ - / only');
  }
  return {
    kind: 's3',
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    region: searchParams.get('region') || undefined,
    pathStyle: pathStyle === 'true',
  };
}

function isPlainHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (
    (url?.protocol === 'http:' || url?.protocol === 'https:') && url.username === '' && url.password === ''
  );
}

const DEFAULT_PORT = 5432;
/** Scheme with user and password, hosts, database and parameters of a connection string. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/;
/** Values of `target_session_attrs` that ask for what this service needs. */
const WRITABLE = new Set(['read-write', 'primary']);

/**
 * Splits a connection string with several hosts, `postgres://user@one,two:5433/name`, into those of the single hosts. Each has the
 * parameters of the whole, as for libpq (PostgreSQL, "Specifying Multiple Hosts"). A host without a port has the default port.
 */
export function singleHostUrls(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = PARTS.exec(url) ?? [];
  if (!hosts.includes(',')) return [url];
  return hosts
    .split(',')
    .map((host) => `${before}${hasPort(host) ? host : `${host}:${DEFAULT_PORT}`}${after}`);
}

/** Whether the libraries that receive the connection string can parse it. It may lack the host, or have several. */
export function isValidDatabaseUrl(text: string): boolean {
  try {
    for (const url of singleHostUrls(text)) {
      const { username, password } = new URL(url.replace('@/', '@localhost/'));
      for (const part of [username, password]) decodeURIComponent(part);
    }
    return true;
  } catch {
    return false;
  }
}

/** The connection strings of a list with commas, each of which may have several hosts. A comma may end the list. */
export const listedUrls = (list = ''): string[] =>
  list
    .split(/,\s*(?=postgres(?:ql)?:\/\/)/)
    .map((url) => url.trim().replace(/\s*,$/, ''))
    .filter(Boolean);

/**
 * The entries `<name>=<connection string>` of a list with commas. An entry without a name has an empty one. A comma may end the list, or
 * be part of a parameter of a URL.
 */
export const urlsByName = (list = ''): { name: string; url: string }[] =>
  list
    .split(/,\s*(?=[a-z0-9-]+=[a-z]+:\/\/)/)
    .map((entry) => entry.trim().replace(/\s*,$/, ''))
    .filter(Boolean)
    .map((entry) => {
      const [, name = '', url = entry] = /^([a-z0-9-]+)=(.*)$/.exec(entry) ?? [];
      return { name, url };
    });

/** Whether the connection string asks for a server that the service cannot use, such as `target_session_attrs=standby`. */
export function asksForStandby(url: string): boolean {
  const [first = ''] = singleHostUrls(url);
  const wanted = URL.parse(first.replace('@/', '@localhost/'))?.searchParams.get('target_session_attrs');
  return wanted != null && !WRITABLE.has(wanted);
}

/** An IPv6 address is in brackets. */
const hasPort = (host: string): boolean => /:\d+$/.test(host.replace(/^\[[^\]]*\]/, ''));
