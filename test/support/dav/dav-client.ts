import type { TestApp, TestUser } from '../app.ts';

export const DAV = '/apis/v1/dav';

/** A response of WebDAV with its body as text. */
export interface DavResponse {
  status: number;
  headers: Headers;
  text: string;
}

/** A program that signs in with an application password. */
export class DavClient {
  private readonly base: string;
  readonly user: TestUser;
  readonly password: string;

  private constructor(base: string, user: TestUser, password: string) {
    this.base = base;
    this.user = user;
    this.password = password;
  }

  /** Creates an application password for a user, and a program that has it. */
  static async of(
    app: TestApp,
    user: TestUser,
    scopes: string[] = ['caldav', 'carddav'],
  ): Promise<DavClient> {
    const { body } = await user.api.post('/settings/application-passwords', { description: 'DAV', scopes });
    return new DavClient(app.base, user, body.password as string);
  }

  get authorization(): string {
    return `Basic ${Buffer.from(`${this.user.email}:${this.password}`).toString('base64')}`;
  }

  /** The path of the home of the user. */
  home(space: 'calendars' | 'addressbooks'): string {
    return `${DAV}/${space}/${this.user.id}/`;
  }

  async send(
    method: string,
    path: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<DavResponse> {
    const response = await fetch(this.base + path, {
      method,
      headers: { authorization: this.authorization, ...headers },
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  propfind(path: string, props: string, depth = '0'): Promise<DavResponse> {
    return this.send('PROPFIND', path, `<D:propfind ${NAMESPACES}><D:prop>${props}</D:prop></D:propfind>`, {
      depth,
    });
  }

  /** @param name with its prefix, e.g. `D:sync-collection` */
  report(path: string, name: string, content: string): Promise<DavResponse> {
    return this.send('REPORT', path, `<${name} ${NAMESPACES}>${content}</${name}>`, { depth: '1' });
  }

  /** The ETag of a member. */
  async etag(path: string): Promise<string> {
    return (await this.send('GET', path)).headers.get('etag') as string;
  }
}

export const NAMESPACES =
  'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="urn:ietf:params:xml:ns:carddav" xmlns:I="http://apple.com/ns/ical/" xmlns:S="http://calendarserver.org/ns/"';

/** The hrefs of the responses of a 207, those of removed members without them. */
export const hrefsOf = (text: string): string[] =>
  [...text.matchAll(/<D:response><D:href>([^<]*)<\/D:href>(?!<D:status>)/g)].map(
    ([, href]) => href as string,
  );

/** The hrefs of members that are gone. */
export const goneOf = (text: string): string[] =>
  [...text.matchAll(/<D:response><D:href>([^<]*)<\/D:href><D:status>HTTP\/1.1 404/g)].map(
    ([, href]) => href as string,
  );

/** The content of all elements with this name. */
export const valuesOf = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, value]) =>
    (value as string)
      .replaceAll('&#13;', '\r')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&'),
  );
