import { TestApp, type TestUser } from '../support/app.ts';
import { definitionOf, ok, option } from '../support/domains/forms.ts';
import { form as formData } from '../support/network/multipart.ts';
import { fits, offered } from '../support/contract/shapes.ts';

const DEFINITION = definitionOf([
  {
    id: 'attending',
    type: 'single_choice',
    title: 'A',
    required: true,
    options: [option('yes'), option('no')],
  },
  { id: 'diet', type: 'short_text', title: 'D' },
  { id: 'score', type: 'nps', title: 'S' },
  { id: 'when', type: 'date_range', title: 'W' },
  { id: 'grid', type: 'matrix', title: 'G', rows: [option('r')], options: [option('x')] },
  { id: 'cv', type: 'file', title: 'F' },
]);

describe('responses of forms have exactly the described shape', () => {
  let app: TestApp;
  let owner: TestUser;
  let guest: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [, owner, guest] = (await app.tenant('acme', 'root', 'olga', 'gus')) as any;
  });
  afterAll(() => app?.stop());

  test('forms and their states', async () => {
    const { api } = owner;
    fits('listFormPresets', await api.get('/forms/presets'));
    for (const body of offered('draftForm')) fits('draftForm', await api.post('/forms/draft', body));
    for (const body of offered('createForm')) fits('createForm', await api.post('/forms', body));
    const created = await api.post('/forms', { title: 'Summer party', definition: DEFINITION });
    fits('createForm', created);
    const path = `/forms/${created.body.form.id}`;
    fits('listForms', await api.get('/forms?limit=1'));
    fits('searchForms', await api.get('/search/forms?q=party'));
    for (const body of offered('updateForm')) fits('updateForm', await api.patch(path, body));
    fits('replaceForm', await api.put(path, { definition: DEFINITION }));
    fits('publishForm', await api.post(`${path}/publish`));
    fits('publishForm', await api.post(`${path}/publish`));
    for (const body of offered('setFormAccepting'))
      fits('setFormAccepting', await api.post(`${path}/accepting`, body));
    fits('shareForm', await api.post(`${path}/share`, { role: 'view', expires_at: '2999-01-01T00:00:00Z' }));
    fits('regenerateFormShare', await api.post(`${path}/share/regenerate`));
    fits('readForm', await api.get(path));
    fits('revokeFormShare', await api.delete(`${path}/share`));
    const access = [{ user_id: guest.id, role: 'respondent' }];
    fits('setFormAccess', await api.put(`${path}/access`, { access }));
    const stored = await api.get(`${path}/access`);
    fits('listFormAccess', stored);
    const sentBack = await api.put(`${path}/access`, stored.body);
    expect([sentBack.status, sentBack.body]).toEqual([200, stored.body]);
    const twice = [...access, { kind: 'user', id: guest.id, role: 'viewer' }];
    expect((await api.put(`${path}/access`, { access: twice })).body.details[0].code).toBe('one_principal');
    fits('readForm', await guest.api.get(path));
    fits('archiveForm', await api.post(`${path}/archive`));
    fits('updateForm', await api.patch(path, { title: 'x' }));
    fits('unarchiveForm', await api.post(`${path}/unarchive`));
    fits('deleteForm', await api.delete(path));
  });

  test('responses, analytics and reports', async () => {
    const { api } = owner;
    const definition = DEFINITION;
    const settings = { one_per_user: true, allow_edit: true, closed_message: 'Too late' };
    const { id } = ok(await api.post('/forms', { title: 'R', definition, settings }), 201).form;
    const path = `/forms/${id}`;
    ok(await api.post(`${path}/publish`));
    ok(await api.put(`${path}/access`, { access: [{ user_id: guest.id, role: 'respondent' }] }));
    fits('startForm', await guest.api.post(`${path}/start`));
    const file = formData({ content: 'x', filename: 'x.txt' });
    const uploaded = await guest.api.request('POST', `${path}/attachments?question_id=cv`, file);
    fits('uploadFormFile', uploaded);
    const answers = {
      attending: 'yes',
      diet: 'None',
      score: 9,
      when: { from: '2026-01-01', to: '2026-01-02' },
      cv: { upload_ids: [uploaded.body.upload.id] },
    };
    const submitted = await guest.api.post(`${path}/submit`, { answers, started_at: '2026-01-01T00:00:00Z' });
    fits('submitForm', submitted);
    fits('submitForm', await guest.api.post(`${path}/submit`, { answers: { attending: 'no' } }));
    fits('submitForm', await api.post(`${path}/submit`, { answers: {} }));
    fits('listFormResponses', await api.get(`${path}/responses?q=none`));
    fits('analyseForm', await api.get(`${path}/analytics`));
    const report = await api.post(`${path}/reports`, {
      name: 'Attendance',
      definition: {
        columns: ['attending', 'score', 'diet'],
        group_by: 'attending',
        metrics: [{ question: 'score', function: 'mean' }],
        charts: [{ question: 'attending', kind: 'bar' }],
      },
    });
    fits('createFormReport', report);
    const one = `${path}/reports/${report.body.report.id}`;
    fits('readFormReport', await api.get(one));
    fits('listFormReports', await api.get(`${path}/reports`));
    fits('updateFormReport', await api.put(one, { name: 'B', rev: 1 }));
    fits('updateFormReport', await api.put(one, { name: 'C', rev: 1 }));
    const viewers = [{ user_id: guest.id }];
    const expose = { responses: true, form: true };
    fits('shareFormReport', await api.post(`${one}/share`, { viewers, expose }));
    const stored = await api.get(`${one}/share`);
    fits('listFormReportViewers', stored);
    const sentBack = await api.post(`${one}/share`, stored.body);
    expect([sentBack.status, sentBack.body]).toEqual([200, stored.body]);
    fits('readFormReportSnapshot', await api.get(`${path}/report_snapshot`));
    const shared = `/reports/shared/${report.body.report.id}`;
    fits('listSharedReports', await guest.api.get('/reports/shared'));
    fits('readSharedReport', await guest.api.get(shared));
    fits('listSharedReportResponses', await guest.api.get(`${shared}/responses?limit=1`));
    fits('readSharedReportForm', await guest.api.get(`${shared}/form`));
    fits('deleteFormReport', await api.delete(one));
    const response = `${path}/responses/${submitted.body.response.id}`;
    fits('readFormResponse', await guest.api.get(response));
    fits('deleteFormResponse', await api.delete(response));
    ok(await api.post(`${path}/accepting`, { accepting: false }));
    fits('submitForm', await guest.api.post(`${path}/submit`, { answers }));
  });
});
