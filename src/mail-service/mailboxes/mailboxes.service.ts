import { Injectable } from '@nestjs/common';
import { refuse } from '../http/mail-error.js';
import { newId } from '../ids.js';
import { type Extras, presentMailbox } from './mailbox.presenter.js';
import { type Mailbox, type MailboxChange, MailboxesRepository } from './mailboxes.repository.js';

/** The rules of mailboxes. */
@Injectable()
export class MailboxesService {
  constructor(private readonly mailboxes: MailboxesRepository) {}

  async list(userId: string, asked: Extras & { specialUse: boolean; showHidden: boolean }) {
    const boxes = await this.mailboxes.list(userId, asked.showHidden);
    // Everybody has an INBOX: who has none does not exist.
    if (boxes.length === 0) throw refuse.userNotFound();
    const chosen = boxes.filter((box) => !asked.specialUse || box.special_use !== null);
    const results = chosen.map((box) => presentMailbox(box, asked));
    return { success: true, results };
  }

  async read(userId: string, id: string) {
    return this.present(await this.mailboxes.find(userId, id));
  }

  /** @param path without one there is nothing to find */
  async resolve(userId: string, path: string | undefined) {
    return this.present(
      path === undefined ? undefined : await this.mailboxes.findByPath(userId, trimmed(path)),
    );
  }

  async create(
    userId: string,
    input: MailboxChange & { path: string },
  ): Promise<{ success: true; id: string }> {
    const path = trimmed(input.path);
    const id = newId();
    if (path.toUpperCase() === 'INBOX') throw refuse.mailboxExists('creation');
    if (!(await this.mailboxes.hasUser(userId))) throw refuse.userNotFound();
    if (!(await this.mailboxes.create(userId, id, { ...input, path })))
      throw refuse.mailboxExists('creation');
    return { success: true, id };
  }

  async update(userId: string, id: string, input: MailboxChange): Promise<{ success: true }> {
    const { path, ...rest } = input;
    if (path === undefined && Object.values(rest).every((value) => value === undefined))
      throw refuse.mailboxUnchanged();
    const box = await this.mailboxes.find(userId, id);
    if (!box) throw refuse.noMailbox();
    if (path !== undefined && isFixed(box)) throw refuse.mailboxDisallowed('update');
    const change = { ...rest, ...(path !== undefined && { path: trimmed(path) }) };
    if (change.path?.toUpperCase() === 'INBOX') throw refuse.mailboxExists('rename');
    const outcome = await this.mailboxes.update(userId, box, change);
    if (outcome === 'taken') throw refuse.mailboxExists('rename');
    if (outcome === 'gone') throw refuse.noMailbox();
    return { success: true };
  }

  async remove(userId: string, id: string): Promise<{ success: true }> {
    const box = await this.mailboxes.find(userId, id);
    if (!box) throw refuse.mailboxGone();
    if (box.special_use !== null || box.hidden) throw refuse.mailboxDisallowed('deletion');
    if (!(await this.mailboxes.remove(userId, id))) throw refuse.mailboxGone();
    return { success: true };
  }

  private present(box: Mailbox | undefined): Record<string, unknown> {
    if (!box) throw refuse.noMailbox();
    return { success: true, ...presentMailbox(box, { counters: true, sizes: false }) };
  }
}

/** The INBOX keeps its name, and what is hidden is not for people to rename. */
const isFixed = (box: Mailbox): boolean => box.special_use === '\\Inbox' || box.hidden;

/** `/a/b` is `a/b`; one that begins with INBOX in any case begins with it in this. */
const trimmed = (path: string): string => path.replace(/^\//, '').replace(/^inbox(?=\/|$)/i, 'INBOX');
