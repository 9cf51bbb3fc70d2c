import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { TestApp, type Person } from '../support/app.ts';
import type { Answer } from '../support/client.ts';
import { describedOperations, openApi } from '../support/operations.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);

/** The described schema with no member beyond those described: a column that leaks fails here. */
function closed(node: any): any {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([k, v]) => [k, closed(v)]));
  if (copy['properties'] && copy['additionalProperties'] === undefined) copy['additionalProperties'] = false;
  return copy;
}

describe('answers have exactly the described shape', () => {
  let app: TestApp;
  let alice: Person;
  const schemas = closed(openApi().components.schemas);

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = (await app.tenant('acme', 'alice')) as [Person];
  });
  afterAll(() => app?.stop());

  const fits = (operationId: string, { status, body }: Answer) => {
    const operation = describedOperations().find(({ spec }) => spec.operationId === operationId);
    const schema = operation?.spec.responses[status]?.content['application/json'].schema;
    expect([operationId, status, schema]).toEqual([operationId, status, expect.anything()]);
    const valid = ajv.validate({ ...closed(schema), components: { schemas } }, body);
    expect([operationId, valid ? null : ajv.errors]).toEqual([operationId, null]);
  };

  test('notes', async () => {
    const { api } = alice;
    const created = await api.post('/notes', {
      title: 'T',
      content: '<p>x</p>',
      labels: ['a'],
      device_id: 'd',
    });
    const { id } = created.body.note;
    fits('create_note', created);
    fits('read_note', await api.get(`/notes/${id}`));
    fits('list_notes', await api.get('/notes?limit=1'));
    fits('list_notes', await api.get('/notes?include=summary'));
    fits('update_note', await api.patch(`/notes/${id}`, { title: 'T2', base_revision: 1 }));
    fits('put_note', await api.put(`/notes/${id}`, { title: 'T3', base_revision: 2 }));
    fits('list_note_revisions', await api.get(`/notes/${id}/revisions`));
    fits('read_note_revision', await api.get(`/notes/${id}/revisions/1`));
    fits('delete_note', await api.delete(`/notes/${id}`, { base_revision: 3 }));
    fits('list_notes', await api.get('/notes?state=trash'));
    fits('restore_note', await api.post(`/notes/${id}/restore`));
    await api.delete(`/notes/${id}`, { base_revision: 3 });
    fits('purge_note', await api.delete(`/notes/${id}/purge`));
  });

  test('health and keys', async () => {
    fits('health_live', await app.anonymous.get('/health/live'));
    fits('health_ready', await app.anonymous.get('/health/ready'));
    fits('jwks', await app.anonymous.get('/.well-known/jwks.json'));
  });
});
