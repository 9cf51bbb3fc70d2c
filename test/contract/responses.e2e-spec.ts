import { JsonReply } from '../../src/platform/http/json-reply.js';
import { NotesService } from '../../src/modules/notes/notes.service.js';
import { TestApp, type TestUser } from '../support/app.ts';
import { takeMismatches } from '../support/contract/mismatches.ts';

describe('the comparison of responses with openapi.json', () => {
  let app: TestApp;
  let alice: TestUser;
  let note: any;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    const { id } = (await alice.api.post('/notes', { title: 'T' })).body.note;
    ({ note } = (await alice.api.get(`/notes/${id}`)).body);
  });
  afterAll(() => app?.stop());

  /** The differences of `readNote` from openapi.json, while the service returns this. */
  async function mismatches(returned: unknown): Promise<string[]> {
    const service = app.get(NotesService);
    service.read = async () => returned as never;
    try {
      await alice.api.get(`/notes/${note.id}`);
    } finally {
      delete (service as Partial<NotesService>).read;
    }
    return takeMismatches();
  }

  const replyOf = (body: object, status?: number) => JsonReply.ofText(JSON.stringify(body), { status });

  test('finds none in a described response', async () => {
    expect(await mismatches(replyOf({ note, role: 'owner' }))).toEqual([]);
  });

  test('finds a missing member', async () => {
    expect(await mismatches(replyOf({ note }))).toEqual([
      expect.stringContaining("must have required property 'role'"),
    ]);
    const { labels: _, ...without } = note;
    expect(await mismatches(replyOf({ note: without, role: 'owner' }))).toEqual([
      expect.stringContaining("'labels'"),
    ]);
  });

  test('finds a further member', async () => {
    expect(await mismatches(replyOf({ note, role: 'owner', secret: 1 }))).toEqual([
      expect.stringContaining('"secret"'),
    ]);
    expect(await mismatches(replyOf({ note: { ...note, secret: 1 }, role: 'owner' }))).toEqual([
      expect.stringContaining('"secret"'),
    ]);
  });

  test('finds a value of another type, and a status without a description', async () => {
    expect(await mismatches(replyOf({ note, role: 7 }))).toEqual([expect.stringContaining('/role')]);
    expect(await mismatches(replyOf({ note, role: 'owner' }, 202))).toEqual([
      'readNote 202 is not described as JSON',
    ]);
  });

  test('compares an object that a controller returns', async () => {
    expect(await mismatches({ role: 'owner' })).toEqual([expect.stringContaining("'note'")]);
  });
});
