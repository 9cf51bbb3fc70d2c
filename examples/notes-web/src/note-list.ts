import type { PendingChange } from '@workspace-backend/client/sync';
import { textOf } from './content.js';
import type { Note } from './device.js';
import { byId, create, setText } from './dom.js';

const PREVIEW = 80;

/** What the list says of a note beside its text. */
export interface Marks {
  pending: ReadonlyMap<string, PendingChange>;
  hasConflict: (id: string) => boolean;
}

interface Entry {
  item: HTMLLIElement;
  button: HTMLButtonElement;
  title: HTMLElement;
  preview: HTMLElement;
  mark: HTMLElement;
}

/** The list of notes with its search. */
export class NoteList {
  private readonly entries = new Map<string, Entry>();
  private readonly texts = new WeakMap<Note, string>();
  private readonly list = byId('list');
  private readonly search = byId('search') as HTMLInputElement;
  private readonly empty = byId('empty');
  private notes: Note[] = [];
  private marks: Marks = { pending: new Map(), hasConflict: () => false };
  private current: string | undefined;

  /** @param open called with the id of the chosen note */
  constructor(private readonly open: (id: string) => void) {
    this.search.addEventListener('input', () => this.render());
  }

  /** Shows the notes and their marks. A missing parameter leaves the ones before. */
  show(changes: { notes?: Note[]; marks?: Marks }): void {
    this.notes = changes.notes ?? this.notes;
    this.marks = changes.marks ?? this.marks;
    this.render();
  }

  select(id: string | undefined): void {
    this.current = id;
    this.render();
  }

  /** Moves the focus to a note, or to the search. */
  focus(id: string | undefined): void {
    const entry = id === undefined ? undefined : this.entries.get(id);
    (entry?.button ?? this.search).focus();
  }

  private render(): void {
    const query = this.search.value.trim().toLowerCase();
    const shown = this.notes.filter((note) => this.textOf(note).toLowerCase().includes(query));
    const items = shown.map((note) => this.entryOf(note).item);
    const isSame =
      items.length === this.list.children.length && items.every((one, n) => one === this.list.children[n]);
    if (!isSame) {
      // An element that moves loses the focus.
      const focused = document.activeElement as HTMLElement | null;
      this.list.replaceChildren(...items);
      if (focused && this.list.contains(focused)) focused.focus();
    }
    for (const id of this.entries.keys())
      if (!this.notes.some((note) => note.id === id)) this.entries.delete(id);
    this.empty.hidden = shown.length > 0;
    setText(this.empty, query === '' ? 'There are no notes yet.' : 'No note contains these words.');
  }

  private entryOf(note: Note): Entry {
    const entry = this.entries.get(note.id) ?? this.newEntry(note.id);
    setText(entry.title, note.title ?? '');
    setText(
      entry.preview,
      this.textOf(note)
        .slice((note.title ?? '').length, PREVIEW)
        .trim(),
    );
    setText(entry.mark, this.markOf(note.id));
    if (note.id === this.current) entry.button.setAttribute('aria-current', 'true');
    else entry.button.removeAttribute('aria-current');
    return entry;
  }

  private newEntry(id: string): Entry {
    const [title, preview, mark] = [create('strong', ''), create('span', ''), create('span', 'mark')];
    const button = create('button', '', title, preview, mark);
    button.type = 'button';
    button.addEventListener('click', () => this.open(id));
    const entry = { item: create('li', '', button), button, title, preview, mark };
    this.entries.set(id, entry);
    return entry;
  }

  private markOf(id: string): string {
    if (this.marks.hasConflict(id)) return 'Two versions';
    const change = this.marks.pending.get(id);
    if (!change) return '';
    return change.problem ? 'Rejected' : 'Not sent yet';
  }

  /** Title and text. */
  private textOf(note: Note): string {
    let text = this.texts.get(note);
    if (text === undefined) {
      text = `${note.title ?? ''} ${textOf(note.content ?? '')}`;
      this.texts.set(note, text);
    }
    return text;
  }
}
