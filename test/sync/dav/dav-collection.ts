import { Violation } from '../model.ts';
import { hrefsOf, goneOf, NAMESPACES, valuesOf } from '../../support/dav/dav-client.ts';
import type { Rng } from '../rng.ts';
import type { World } from '../world.ts';

/** An event, a task or a contact as the device has it. */
interface Held {
  etag: string;
  text: string;
}

/** What the device stored in a member that it made. */
interface Stored {
  /** Marks of writes of which one is stored: the acknowledged one, and those without a response since. */
  marks: string[];
}

/** The device of a collection. */
export interface DavSender {
  readonly name: string;
  readonly rng: Rng;
  readonly world: World;
  /** @returns status 0 without a response, 404 where another client has deleted the resource */
  send(
    method: string,
    path: string,
    body: string | undefined,
    allowed: readonly number[],
    headers?: Record<string, string>,
  ): Promise<{ status: number; text: string }>;
}

export type Kind = 'VEVENT' | 'VTODO' | 'VCARD';

/** The property by which a write of the device is recognised. Clients of the HTTP API keep it. */
const MARK = 'X-FUZZ';
/** The ETag of a contact. */
const CONTACT = /^"contact:([^:]+):/;
const MARKED = new RegExp(`^${MARK}:(.*)\r$`, 'm');

/** A collection that a device follows by `sync-collection` and `multiget`, and writes by PUT and DELETE. */
export class DavCollection {
  readonly members = new Map<string, Held>();
  private readonly stored = new Map<string, Stored>();
  /** Own members that no synchronisation has named yet. One that is removed before it need not be named at all. */
  private readonly unnamed = new Set<string>();
  /** Marks of writes that the server rejected. */
  private readonly rejected = new Set<string>();
  private token = '';
  private readonly device: DavSender;
  readonly path: string;
  readonly kind: Kind;

  constructor(device: DavSender, path: string, kind: Kind) {
    this.device = device;
    this.path = path;
    this.kind = kind;
  }

  /** @returns whether nothing had changed */
  async synchronise(): Promise<boolean> {
    const { device } = this;
    const body = `<D:sync-collection ${NAMESPACES}><D:sync-token>${this.token}</D:sync-token><D:sync-level>1</D:sync-level><D:limit><D:nresults>${device.rng.pick([1, 7, 100])}</D:nresults></D:limit><D:prop><D:getetag/></D:prop></D:sync-collection>`;
    const { status, text } = await device.send('REPORT', this.path, body, [207, 403]);
    if (status === 403) {
      if (!text.includes('valid-sync-token')) throw new Violation(`${device.name}: ${text}`, this.path);
      device.world.count('dav resets');
      this.token = '';
      this.members.clear();
      return false;
    }
    if (status !== 207) return false;
    const isFirst = this.token === '';
    const gone = goneOf(text);
    if (isFirst && gone.length > 0)
      throw new Violation(`${device.name}: a removal for a client that has nothing`, this.path);
    for (const href of gone) this.members.delete(href);
    const etags = valuesOf(text, 'D:getetag');
    const changed = hrefsOf(text).filter((href) => href !== this.path);
    for (const href of changed) this.unnamed.delete(href);
    const stale = changed.filter((href, n) => this.members.get(href)?.etag !== etags[n]);
    const [token] = valuesOf(text, 'D:sync-token');
    if (stale.length > 0 && !(await this.read(stale))) return false;
    const isQuiet = changed.length === 0 && gone.length === 0 && !text.includes('HTTP/1.1 507');
    this.token = token!;
    device.world.count('dav removals', gone.length);
    return isQuiet;
  }

  /** Makes, changes or deletes a member. */
  async write(): Promise<void> {
    const { rng, world } = this.device;
    const own = [...this.stored.keys()].filter((href) => this.members.has(href));
    const action =
      own.length === 0 ? 'create' : rng.weighted({ create: 3, change: 5, again: 1, remove: 1.5 });
    const href =
      action === 'create'
        ? `${this.path}${rng.uuid()}.${this.kind === 'VCARD' ? 'vcf' : 'ics'}`
        : rng.pick(own);
    const { etag, text } = this.members.get(href) ?? { etag: '', text: '' };
    if (action === 'remove') {
      const [, contact] = CONTACT.exec(etag) ?? [];
      if (contact) world.contactLedger.mayBeDeletedById(contact);
      const { status } = await this.device.send('DELETE', href, undefined, [204, 404, 412, 403], {
        'if-match': etag,
      });
      if (status === 204 || status === 404) {
        this.stored.delete(href);
        this.members.delete(href);
      }
      world.count(`dav delete ${status}`);
      return;
    }
    const mark = `${this.device.name}-${world.unique()}`;
    const next = action === 'create' ? textOf(this.kind, href, mark) : marked(text, mark);
    const condition: Record<string, string> =
      action === 'change' ? { 'if-match': etag } : { 'if-none-match': '*' };
    const { status } = await this.device.send('PUT', href, next, [201, 204, 412, 403, 404, 409], condition);
    world.count(`dav put ${status}`);
    // 201: another client has deleted it since the last synchronisation.
    if (action !== 'change' && status === 204)
      throw new Violation(`${this.device.name}: ${href} is replaced in spite of If-None-Match`, href);
    if (status === 0) this.stored.set(href, { marks: [...(this.stored.get(href)?.marks ?? []), mark] });
    else if (status < 300) this.stored.set(href, { marks: [mark] });
    else this.rejected.add(mark);
    // A program reads what it has written: the stored text is the server's.
    if (status === 201 || status === 204) await this.read([href]);
    if (status === 201) this.unnamed.add(href);
  }

  /** Compares what the device has with full reads of the collection. */
  async check(): Promise<void> {
    const { device } = this;
    const find = `<D:propfind ${NAMESPACES}><D:prop><D:getetag/></D:prop></D:propfind>`;
    const { status, text } = await device.send('PROPFIND', this.path, find, [207]);
    if (status !== 207) return;
    const hrefs = hrefsOf(text).slice(1);
    const etags = valuesOf(text, 'D:getetag');
    if (new Set(hrefs).size < hrefs.length) throw new Violation(`${device.name}: a member twice`, this.path);
    const listed = new Map(hrefs.map((href, n) => [href, etags[n]!]));
    for (const href of this.unnamed) if (!listed.has(href)) this.members.delete(href);
    for (const href of new Set([...listed.keys(), ...this.members.keys()])) {
      const held = this.members.get(href)?.etag;
      if (held !== listed.get(href))
        throw new Violation(
          `${device.name}: has ${held} of ${href}, and the server ${listed.get(href)}`,
          href,
        );
    }
    const before = new Map(this.members);
    for (let at = 0; at < hrefs.length; at += 50) await this.read(hrefs.slice(at, at + 50));
    for (const [href, { text: current }] of this.members) {
      if (withoutStamp(before.get(href)!.text) !== withoutStamp(current))
        throw new Violation(`${device.name}: has\n${before.get(href)!.text}\nof\n${current}`, href);
      const mark = MARKED.exec(current.replaceAll('\r\n ', ''))?.[1];
      if (mark !== undefined && this.rejected.has(mark))
        throw new Violation(`${device.name}: ${mark} was rejected and is stored`, href);
      const known = this.stored.get(href);
      if (known && !known.marks.includes(mark ?? ''))
        throw new Violation(`${device.name}: stored ${known.marks.join(' or ')}, and has ${mark}`, href);
      device.world.count('dav members compared');
    }
    // Another client has deleted or moved them.
    for (const href of this.stored.keys()) if (!this.members.has(href)) this.stored.delete(href);
  }

  /** Reads members. @returns false without a response */
  private async read(hrefs: readonly string[]): Promise<boolean> {
    const { device, kind } = this;
    const [name, data] =
      kind === 'VCARD'
        ? ['A:addressbook-multiget', 'A:address-data']
        : ['C:calendar-multiget', 'C:calendar-data'];
    const body = `<${name} ${NAMESPACES}><D:prop><D:getetag/><${data}/></D:prop>${hrefs.map((href) => `<D:href>${href}</D:href>`).join('')}</${name}>`;
    const { status, text } = await device.send('REPORT', this.path, body, [207]);
    if (status !== 207) return false;
    const etags = valuesOf(text, 'D:getetag');
    const texts = valuesOf(text, data);
    for (const [n, href] of hrefsOf(text).entries())
      this.members.set(href, { etag: etags[n]!, text: texts[n]! });
    for (const href of goneOf(text)) this.members.delete(href);
    return true;
  }
}

/** The time of the response, in tasks and events. */
const withoutStamp = (text: string): string => text.replaceAll(/^DTSTAMP:.*\r\n/gm, '');

/** The text with another mark and, where it has one, another title. */
const marked = (text: string, mark: string): string =>
  text
    .replaceAll('\r\n ', '')
    .replace(MARKED, `${MARK}:${mark}\r`)
    .replace(/^(SUMMARY|FN):.*\r$/m, `$1:${mark}\r`);

function textOf(kind: Kind, href: string, mark: string): string {
  const uid = href.split('/').at(-1)!.split('.')[0]!;
  const inside = [`UID:${uid}`, `${MARK}:${mark}`];
  const lines =
    kind === 'VCARD'
      ? ['BEGIN:VCARD', 'VERSION:3.0', ...inside, `FN:${mark}`, `N:${mark};;;;`, 'END:VCARD']
      : [
          'BEGIN:VCALENDAR',
          'VERSION:2.0',
          'PRODID:-//Fuzz//EN',
          `BEGIN:${kind}`,
          ...inside,
          'DTSTAMP:20270101T000000Z',
          ...(kind === 'VEVENT'
            ? ['DTSTART:20270105T090000Z', 'DTEND:20270105T100000Z', 'RRULE:FREQ=DAILY;COUNT=3']
            : []),
          `SUMMARY:${mark}`,
          `END:${kind}`,
          'END:VCALENDAR',
        ];
  return lines.map((line) => `${line}\r\n`).join('');
}
