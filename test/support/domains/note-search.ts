import { newNote } from '../../../src/modules/notes/model/edit-rules.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser, type UsersOf } from '../app.ts';

/** An application with notes to search. */
export class NoteSearch {
  private workspaces = 0;

  private constructor(readonly app: TestApp) {}

  static async start(): Promise<NoteSearch> {
    return new NoteSearch(await TestApp.start());
  }

  /** The workspace that the latest call of `people` created. */
  get workspace(): string {
    return `t${this.workspaces}`;
  }

  /** Creates a workspace with these users. */
  people<const Names extends readonly string[]>(...names: Names): Promise<UsersOf<Names>> {
    this.workspaces += 1;
    return this.app.tenant(this.workspace, ...names);
  }

  /** Waits until the index has all notes. */
  async indexed(): Promise<void> {
    await this.app.get(OutboxWorker).drain();
  }

  async make(user: TestUser, title: string, content = '', more: object = {}): Promise<any> {
    const { status, body } = await user.api.post('/notes', { title, content, ...more });
    expect(status).toBe(201);
    return body.note;
  }

  /** Creates filler notes: with more than 300, a search of this user reads the index of words. */
  async crowd(user: TestUser, notes: number, title = 'one of a crowd'): Promise<void> {
    await this.app.sql(
      `SELECT count(w.outcome) FROM generate_series(1, $3::int) g,
       LATERAL note_store($1, $2, gen_random_uuid(), jsonb_build_object(
         'is_new', true, 'event', jsonb_build_object('id', gen_random_uuid(), 'type', 'note.created'),
         'row', $5::jsonb || jsonb_build_object('title', $4::text || ' ' || g)), '<p>x</p>') w`,
      [user.tenantId, user.id, notes, title, JSON.stringify(newNote(user.id, {}))],
    );
  }

  /** @param more further query parameters, beginning with `&` */
  async search(user: TestUser, q: string, more = ''): Promise<any> {
    const { status, body } = await user.api.get(`/search/notes?q=${encodeURIComponent(q)}${more}`);
    expect([q, status, body]).toEqual([q, 200, expect.anything()]);
    return body;
  }

  /** The titles of the results, sorted. */
  async titles(user: TestUser, q: string, more = ''): Promise<string[]> {
    return (await this.search(user, q, more)).notes.map((note: any) => note.title).toSorted();
  }
}
