import { Injectable } from '@nestjs/common';
import { newId } from '../ids.js';
import { mailErrors } from '../mail-error.js';
import {
  type Mailbox,
  type MailboxChange,
  MailboxesRepository,
  type PathRejection,
} from './mailboxes.repository.js';

/** Optional counters of a mailbox response. */
export interface Extras {
  counters: boolean;
  sizes: boolean;
}

/** `specialUse` is null for the INBOX and missing for mailboxes that users created. */
export function specialUseOf(specialUse: string | null): { specialUse?: string | null } {
  if (specialUse === null) return {};
  return { specialUse: specialUse === '\\Inbox' ? null : specialUse };
}

export function presentMailbox(box: Mailbox, { counters, sizes }: Extras): Record<string, unknown> {
  return {
    id: box.id,
    name: box.path.slice(box.path.lastIndexOf('/') + 1),
    path: box.path,
    ...specialUseOf(box.special_use),
    modifyIndex: Number(box.modify_index),
    subscribed: box.subscribed,
    hidden: box.hidden,
    encryptMessages: box.encrypt_messages,
    ...(box.retention !== null && { retention: Number(box.retention) }),
    ...(counters && { total: Number(box.total), unseen: Number(box.unseen) }),
    // WildDuck omits the size of an empty mailbox.
    ...(sizes && Number(box.total) > 0 && { size: Number(box.size) }),
  };
}

/** Mailbox operations. */
@Injectable()
export class MailboxesService {
  constructor(private readonly mailboxes: MailboxesRepository) {}

  async list(userId: string, options: Extras & { specialUse: boolean; showHidden: boolean }) {
    const boxes = await this.mailboxes.list(userId, options.showHidden);
    // Every user has an INBOX.
    if (boxes.length === 0) throw mailErrors.userNotFound();
    const chosen = boxes.filter((box) => !options.specialUse || box.special_use !== null);
    const results = chosen.map((box) => presentMailbox(box, options));
    return { success: true, total: results.length, nextCursor: false, previousCursor: false, results };
  }

  async read(userId: string, id: string) {
    return this.present(await this.mailboxes.find(userId, id));
  }

  async resolve(userId: string, path: string | undefined) {
    return this.present(
      path === undefined ? undefined : await this.mailboxes.findByPath(userId, trimmed(path)),
    );
  }

  async create(userId: string, input: MailboxChange & { path: string }): Promise<Record<string, unknown>> {
    const path = named(input.path);
    const id = newId();
    if (path.toUpperCase() === 'INBOX') throw mailErrors.mailboxExists('creation');
    if (!(await this.mailboxes.hasUser(userId))) throw mailErrors.userNotFound();
    const created = await this.mailboxes.create(userId, id, { ...input, path });
    if (created === 'too_many') throw mailErrors.mailboxLimit();
    if (typeof created === 'string') throw pathError(created, 'creation');
    return this.present(created);
  }

  async update(userId: string, id: string, input: MailboxChange): Promise<{ success: true }> {
    const { path, ...rest } = input;
    if (path === undefined && Object.values(rest).every((value) => value === undefined))
      throw mailErrors.mailboxUnchanged();
    const box = await this.mailboxes.find(userId, id);
    if (!box) throw mailErrors.noMailbox();
    if (path !== undefined && isFixed(box)) throw mailErrors.mailboxDisallowed('update');
    const change = { ...rest, ...(path !== undefined && { path: named(path) }) };
    if (change.path?.toUpperCase() === 'INBOX') throw mailErrors.mailboxExists('rename');
    // Those below it would be below themselves, and have no parent.
    if (change.path?.startsWith(`${box.path}/`) && (await this.mailboxes.hasChildren(userId, id)))
      throw mailErrors.mailboxDisallowed('update');
    const outcome = await this.mailboxes.update(userId, id, change);
    if (outcome === 'gone') throw mailErrors.noMailbox();
    if (outcome !== 'ok') throw pathError(outcome, 'rename');
    return { success: true };
  }

  async remove(userId: string, id: string): Promise<{ success: true }> {
    const box = await this.mailboxes.find(userId, id);
    if (!box) throw mailErrors.mailboxNotFound();
    if (box.special_use !== null || box.hidden) throw mailErrors.mailboxDisallowed('deletion');
    // The children would have no parent.
    if (await this.mailboxes.hasChildren(userId, id)) throw mailErrors.mailboxHasChildren();
    if (!(await this.mailboxes.remove(userId, id))) throw mailErrors.mailboxNotFound();
    return { success: true };
  }

  private present(box: Mailbox | undefined): Record<string, unknown> {
    if (!box) throw mailErrors.noMailbox();
    return { success: true, ...presentMailbox(box, { counters: true, sizes: false }) };
  }
}

const pathError = (rejection: PathRejection, action: 'creation' | 'rename') =>
  rejection === 'taken' ? mailErrors.mailboxExists(action) : mailErrors.mailboxPathTooLong();

/** Users cannot rename the INBOX and hidden mailboxes. */
const isFixed = (box: Mailbox): boolean => box.special_use === '\\Inbox' || box.hidden;

/** The path of a new name: names that differ by blanks at their ends look the same. */
const named = (path: string): string =>
  trimmed(
    path
      .split('/')
      .map((name) => name.trim())
      .join('/'),
  );

/** Removes a leading slash; upper-cases INBOX as the first segment. */
const trimmed = (path: string): string => path.replace(/^\//, '').replace(/^inbox(?=\/|$)/i, 'INBOX');
