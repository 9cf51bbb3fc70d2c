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

/** The connection strings of a list with commas, each of which may have several hosts. */
export const listedUrls = (list = ''): string[] =>
  list
    .split(/,\s*(?=postgres(?:ql)?:\/\/)/)
    .map((url) => url.trim())
    .filter(Boolean);

/** Whether the connection string asks for a server that the service cannot use, such as `target_session_attrs=standby`. */
export function asksForStandby(url: string): boolean {
  const [first = ''] = singleHostUrls(url);
  const wanted = URL.parse(first.replace('@/', '@localhost/'))?.searchParams.get('target_session_attrs');
  return wanted != null && !WRITABLE.has(wanted);
}

/** An IPv6 address is in brackets. */
const hasPort = (host: string): boolean => /:\d+$/.test(host.replace(/^\[[^\]]*\]/, ''));
