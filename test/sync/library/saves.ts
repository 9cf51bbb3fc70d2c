import type { CollectionName, PendingChange } from '@workspace-backend/client/sync';
import type { ContactLedger } from '../contact-ledger.ts';
import { type Access, type Ledger, Violation } from '../model.ts';
import type { TaskLedger } from '../task-ledger.ts';
import type { BatchPart } from './batch-part.ts';

/** Texts that only one save has, as `World.unique` makes them for the saves of devices. */
const TOKEN = /w\d+x/g;
/** Errors by which the library learns that an earlier attempt was executed. */
const DONE = new Set(['already_exists', 'duplicate_external_id', 'no_changes']);

/** What the saves change of the state that all actors share. */
interface Shared<User extends { name: string }> {
  unique(): string;
  count(name: string): void;
  site: { users: User[]; crash?: unknown };
  access: Access;
  ledger: Ledger;
  taskLedger: TaskLedger;
  contactLedger: ContactLedger;
  notes: { id: string; owner: User; token: string | null }[];
  tasks: { id: string; creator: User }[];
}

interface Field {
  device: string;
  id: string;
  about: string;
  /** The last value that was certainly saved, and later ones of programs that ended before they could tell. */
  values: string[];
  isSure: boolean;
}

/** An object that only the devices of its owner write, each of them its own fields. */
export interface Private {
  name: CollectionName;
  user: string;
  /** Values that a field may have, and the device that writes it. */
  fields: Map<string, { device: string; values: string[] }>;
  /** Labels that must be there; each device adds its own. */
  labels: { device: string; label: string }[];
  /** Keys of the executed writes, by the revision that they made. */
  revisions: Map<number, string>;
}

/**
 * What devices have saved with the library, and what the service has executed. A save is never lost: the service has executed it, or it is in the
 * queue of the device, or the application was told that it is rejected or has decided a conflict against it. No save is executed twice.
 */
export class Saves<User extends { name: string }> {
  readonly privates = new Map<string, Private>();
  private readonly world: Shared<User>;
  /** By device, object and field. */
  private readonly fields = new Map<string, Field>();
  private readonly executed = new Set<string>();
  private readonly reported = new Set<string>();
  private readonly doubtful = new Set<string>();
  /** The results of writes by their keys. */
  private readonly results = new Map<string, number | undefined>();
  private readonly grants = new Map<string, (isUnsure: boolean) => void>();

  constructor(world: Shared<User>) {
    this.world = world;
  }

  /** A text that no other save has. */
  unique(): string {
    return `${this.world.unique()}x`;
  }

  /** @param isSure whether the save has resolved; otherwise the program has ended during it */
  saved(
    device: string,
    name: CollectionName,
    id: string,
    fields: Record<string, string>,
    isSure: boolean,
  ): void {
    this.world.count('saves');
    for (const [field, value] of Object.entries(fields)) {
      const key = `${device} ${name} ${id} ${field}`;
      const before = this.fields.get(key) ?? {
        device,
        id,
        about: `${field} of ${name} ${id}`,
        values: [],
        isSure,
      };
      const values = isSure ? [value] : [...before.values, value];
      this.fields.set(key, { ...before, values, isSure: isSure || before.isSure });
    }
  }

  /** A removal has discarded the unsent changes of an object. */
  removed(device: string, name: CollectionName, id: string): void {
    for (const key of this.fields.keys())
      if (key.startsWith(`${device} ${name} ${id} `)) this.fields.delete(key);
    this.privates.delete(id);
  }

  /** The access of the user begins when the service gets the note. */
  creating(user: string, id: string): void {
    this.grants.set(id, this.world.access.grant(id, [user]));
  }

  /** The application knows that the value does not reach the service. */
  report(value: unknown): void {
    for (const token of tokensIn(value)) this.reported.add(token);
  }

  unanswered(part: BatchPart): void {
    for (const token of tokensIn(part.body)) this.doubtful.add(token);
  }

  /** A write of the library has a response. */
  answered(user: string, part: BatchPart, status: number, body: any): void {
    const isRepeated =
      DONE.has(body?.error) && tokensIn(part.body).every((token) => this.doubtful.has(token));
    if (status < 300 || isRepeated) for (const token of tokensIn(part.body)) this.executed.add(token);
    if (status >= 300) return;
    this.world.count('saves executed');
    const item = body?.note ?? body?.task ?? body?.contact;
    const key = part.headers!['Idempotency-Key']!;
    const { revision } = item ?? {};
    if (this.results.has(key)) {
      this.world.count('saves sent again');
      if (this.results.get(key) !== revision)
        throw new Violation(
          `a write of ${user} was executed twice: revisions ${this.results.get(key)} and ${revision}`,
        );
      return;
    }
    this.results.set(key, revision);
    if (item) this.acknowledge(user, part, status, body, key);
  }

  /**
   * No save of a device is lost.
   * @param pending what is in its queue
   */
  check(device: string, pending: readonly PendingChange[]): void {
    const queued = new Set(pending.flatMap(({ item }) => tokensIn(item)));
    const isKept = (token: string): boolean =>
      this.executed.has(token) || this.reported.has(token) || queued.has(token);
    for (const [key, field] of this.fields) {
      if (field.device !== device || !field.isSure) continue;
      if (!field.values.some(isKept))
        throw new Violation(
          `${device}: the saved ${field.about} is lost: ${field.values.join(' or ')}`,
          field.id,
        );
      if (field.values.some((token) => this.executed.has(token))) this.fields.delete(key);
      this.world.count('saves compared');
    }
  }

  /**
   * A field that only one device writes has its last saved value, and each write of an object has one revision.
   * @param isQueued whether a device has unsent changes of an object
   * @param stored what the service has, by id
   */
  checkPrivate(
    user: string,
    name: CollectionName,
    isQueued: (device: string, id: string) => boolean,
    stored: ReadonlyMap<string, any>,
  ): void {
    for (const [id, one] of this.privates) {
      if (one.user !== user || one.name !== name) continue;
      const item = stored.get(id);
      const about = `${name} ${id} of ${user}`;
      for (const [field, { device, values }] of one.fields) {
        if (isQueued(device, id)) continue;
        if (!item) throw new Violation(`${about} is lost`, id);
        if (!values.some((value) => item[field] === value))
          throw new Violation(`${field} of ${about} is ${item[field]} instead of ${values.join(' or ')}`, id);
        this.world.count(`private fields of ${name} compared`);
      }
      for (const { device, label } of one.labels)
        if (!isQueued(device, id) && !item.labels.includes(label))
          throw new Violation(`the label ${label} of ${about} is lost: ${item.labels}`, id);
      // The responses of a server that was killed are unknown.
      if (item && name === 'notes' && !this.world.site.crash && one.revisions.size !== item.revision)
        throw new Violation(`${about} has revision ${item.revision} after ${one.revisions.size} writes`, id);
    }
  }

  private acknowledge(user: string, part: BatchPart, status: number, body: any, key: string): void {
    const { world } = this;
    const { note, task, contact } = body;
    const item = note ?? task ?? contact;
    if (contact) world.contactLedger.acknowledged(contact, user);
    this.privates.get(item.id)?.revisions.set(item.revision, key);
    // The placement of a note by a member who does not own it has no revision.
    const isNew = status === 201 || item.revision === part.body?.['base_revision'] + 1;
    if (!isNew || part.method === 'DELETE' || part.path.endsWith('/restore')) return;
    if (note) world.ledger.acknowledged(note, user);
    if (task) world.taskLedger.acknowledged(task, user);
    if (status !== 201) return;
    this.grants.get(item.id)?.(false);
    if (this.privates.has(item.id)) return;
    const owner = world.site.users.find((one) => one.name === user)!;
    if (note) world.notes.push({ id: note.id, owner, token: null });
    if (task) world.tasks.push({ id: task.id, creator: owner });
  }
}

const tokensIn = (value: unknown): string[] => JSON.stringify(value ?? null).match(TOKEN) ?? [];
