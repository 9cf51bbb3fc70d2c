import { ItemError } from '@workspace-backend/client/sync';
import { ConflictPanel } from './conflict-panel.js';
import { makeEditor, readContent, showContent } from './content.js';
import type { Device, Note } from './device.js';
import { byId, run, setText } from './dom.js';

type Fields = { title?: string; content?: string };

/** The form of one note, which exists or is new. */
export class Editor {
  /** The note that the form was filled with; undefined: a new one. */
  private seen: Note | undefined;
  private isOpen = false;
  /** What the user has typed since then. */
  private readonly typed = new Set<keyof Fields>();
  private readonly title = byId('title') as HTMLInputElement;
  private readonly content = byId('content');
  private readonly form = byId('editor') as HTMLFormElement;
  private readonly panel = new ConflictPanel((fields) => this.write(fields, undefined));

  /** @param opened called with the id of the shown note, undefined for a new one, and after the form closes */
  constructor(
    private readonly device: Device,
    private readonly opened: (id: string | undefined, isOpen: boolean) => void,
  ) {
    makeEditor(this.content);
    this.title.addEventListener('input', () => this.typed.add('title'));
    this.content.addEventListener('input', () => this.typed.add('content'));
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      run(() => this.save());
    });
    this.form.addEventListener('keydown', (event) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    addEventListener('beforeunload', (event) => {
      if (this.typed.size > 0) event.preventDefault();
    });
    device.conflicts.onChange(() => this.showConflict());
  }

  get id(): string | undefined {
    return this.seen?.id;
  }

  /** Opens a note, or the form of a new one, and saves the unsaved fields of the note before it. */
  async open(id: string | undefined): Promise<void> {
    await this.leave();
    const note = id === undefined ? undefined : await this.device.notes.get(id);
    this.isOpen = true;
    this.fill(note);
    this.say('');
    this.opened(note?.id, true);
    this.title.focus();
  }

  /** Saves the unsaved fields, and closes the form. */
  async leave(): Promise<void> {
    if (this.typed.size > 0) await this.save();
    this.close();
  }

  /** Follows the changes of others, and of other tabs. What the user types stays. */
  follow(notes: readonly Note[]): void {
    if (!this.seen) return;
    const { id } = this.seen;
    const note = notes.find((one) => one.id === id);
    if (!note) return this.lose();
    const isSame = note.title === this.seen.title && note.content === this.seen.content;
    if (this.typed.size === 0) this.fill(note, isSame);
    else if (!isSame) this.say('Someone else has changed this note. Your changes are merged when you save.');
  }

  /** Moves the open note into the trash. @returns its id, undefined for a new one */
  async remove(): Promise<string | undefined> {
    const id = this.seen?.id;
    this.close();
    if (id !== undefined) await this.device.notes.remove(id);
    return id;
  }

  /** Fills the form with what the device has, such as after changes were discarded. */
  async reload(): Promise<void> {
    const note = this.seen && (await this.device.notes.get(this.seen.id));
    if (note) this.fill(note);
    else this.close();
  }

  private async save(): Promise<void> {
    if (!this.form.reportValidity()) throw new Error('A note needs a title.');
    const fields: Fields = {};
    if (!this.seen || this.typed.has('title')) fields.title = this.title.value;
    if (this.typed.has('content')) fields.content = readContent(this.content);
    await this.write(fields, this.seen);
  }

  /**
   * Saves fields, which decides a conflict that is shown.
   * @param seen the note that the fields were made from; undefined: they replace what the device has
   */
  private async write(fields: Fields, seen: Note | undefined): Promise<void> {
    const { notes, conflicts } = this.device;
    const before = this.seen;
    const decided = before && conflicts.get(before.id);
    // Before the save: it may find the next conflict.
    if (before && decided) conflicts.delete(before.id);
    let id: string;
    try {
      id = before ? before.id : await notes.create({ ...fields, title: fields.title ?? '' });
      if (before) await notes.update(before.id, fields, seen);
    } catch (error) {
      if (before && decided) conflicts.set(before.id, decided);
      throw error instanceof ItemError ? new Error('Someone else has deleted this note.') : error;
    }
    this.fill(await notes.get(id));
    this.say('Saved on this device.');
    this.opened(id, true);
  }

  /** @param keeps the fields, only the rest of the note is newer */
  private fill(note: Note | undefined, keeps = false): void {
    this.seen = note;
    this.typed.clear();
    if (!keeps) {
      this.title.value = note?.title ?? '';
      showContent(this.content, note?.content ?? '');
    }
    const isReadable = note?.role === 'viewer';
    this.title.readOnly = isReadable;
    this.content.contentEditable = String(!isReadable);
    byId('save').hidden = isReadable;
    byId('delete').hidden = note === undefined || (note.role !== undefined && note.role !== 'owner');
    setText(byId('note-title'), note ? 'Note' : 'New note');
    this.showConflict();
  }

  private showConflict(): void {
    const versions = this.isOpen && this.seen ? this.device.conflicts.get(this.seen.id) : undefined;
    this.panel.show(versions);
    setText(byId('save'), versions ? 'Save the merge' : 'Save');
  }

  /** The note is deleted, or no longer shared. The fields that the user has typed become a new note. */
  private lose(): void {
    if (this.typed.size === 0) return this.close();
    const text = { title: this.title.value, content: readContent(this.content) };
    this.fill(undefined);
    this.title.value = text.title;
    showContent(this.content, text.content);
    this.typed.add('title').add('content');
    this.opened(undefined, true);
    this.say('Someone else has deleted this note. Save your text as a new note.');
  }

  private close(): void {
    this.isOpen = false;
    this.fill(undefined);
    this.opened(undefined, false);
  }

  private say(text: string): void {
    setText(byId('hint'), text);
  }
}
