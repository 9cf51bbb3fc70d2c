// The floor of the forms bench: a bare HTTP server with the statements of the repositories, without token, checks and logic.
import { Readable } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import { XlsxWriter } from '../../../dist/lib/xlsx/index.js';
import { FormsRepository } from '../../../dist/modules/forms/forms.repository.js';
import { ResponsesRepository } from '../../../dist/modules/forms/responses/responses.repository.js';
import { SubmissionsRepository } from '../../../dist/modules/forms/responses/submissions.repository.js';
import { floorDatabase, floorPool, serveFloor } from '../support/floor-server.mjs';

const BATCH = 500;
const db = floorDatabase();
const forms = new FormsRepository(db);
const submissions = new SubmissionsRepository(db);
const responses = new ResponsesRepository(db);

async function submit(ctx, form, body) {
  const { answers } = JSON.parse(body);
  const opened = await forms.find(ctx, form, null, null);
  const submitted = {
    id: uuidv7(),
    clientResponseId: null,
    version: 1,
    answers,
    searchText: Object.values(answers).join(' ').toLowerCase(),
    durationSeconds: null,
  };
  const change = { respondentId: ctx.userId, submittedAt: opened.now, highestCount: null };
  if (!(await submissions.insert(db, ctx.tenantId, form, opened, submitted, change)))
    throw new Error('the form has changed');
  const response = { id: submitted.id, version: 1, submitted_at: opened.now };
  return { status: 201, json: JSON.stringify({ response, confirmation: '', discarded: [] }) };
}

async function list(ctx, form) {
  const filter = { words: [], contains: {}, texts: new Map() };
  const opened = await forms.find(ctx, form, null, null);
  const rows = (await responses.list(ctx.tenantId, form, filter, undefined, 51)).slice(0, 50);
  return { status: 200, json: JSON.stringify({ responses: rows, next: null, total: opened.response_count }) };
}

/** The rows of one cursor in one snapshot, in batches. */
async function* scan({ tenantId }, form) {
  const client = await floorPool.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `DECLARE scan NO SCROLL CURSOR FOR
       SELECT response.id, response.submitted_at, member.email AS respondent, response.version, response.answers
         FROM form_responses response
         LEFT JOIN member_profiles member ON member.tenant_id = response.tenant_id AND member.user_id = response.respondent_id
        WHERE response.tenant_id = $1 AND response.form_id = $2 ORDER BY response.submitted_at, response.id`,
      [tenantId, form],
    );
    for (;;) {
      const { rows } = await client.query({ name: 'fetch', text: `FETCH ${BATCH} FROM scan` });
      if (rows.length === 0) break;
      yield rows;
    }
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

async function questionsOf({ tenantId }, form) {
  const [{ definition }] = await forms.versions(db, tenantId, form);
  return definition.sections.flatMap(({ questions }) => questions.map(({ id }) => id));
}

async function* csv(ctx, form) {
  const questions = await questionsOf(ctx, form);
  yield `id,submitted_at,respondent,version,${questions.join(',')}\r\n`;
  for await (const rows of scan(ctx, form)) {
    let text = '';
    for (const { id, submitted_at: at, respondent, version, answers } of rows) {
      const cells = questions.map((question) => quoted(String(answers[question] ?? '')));
      text += `${id},${at.toISOString()},${respondent},${version},${cells.join(',')}\r\n`;
    }
    yield text;
  }
}

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The XLSX writer of the application, with plain texts and numbers as input. */
function xlsx(ctx, form) {
  const out = new Readable({ highWaterMark: 256 * 1024, read: () => resume?.() });
  let resume;
  const write = async (chunk) => {
    if (!out.push(chunk)) await new Promise((resolve) => (resume = resolve));
  };
  const produce = async () => {
    const questions = await questionsOf(ctx, form);
    const book = new XlsxWriter(write);
    await book.sheet('Responses', ['id', 'submitted_at', 'respondent', 'version', ...questions]);
    for await (const rows of scan(ctx, form))
      for (const { id, submitted_at: at, respondent, version, answers } of rows)
        await book.row([
          { kind: 'text', value: id },
          { kind: 'moment', value: at.getTime() },
          respondent === null ? null : { kind: 'text', value: respondent },
          { kind: 'number', value: version },
          ...questions.map((question) => cellOf(answers[question])),
        ]);
    await book.end();
    out.push(null);
  };
  produce().catch((error) => out.destroy(error));
  return out;
}

function cellOf(value) {
  if (value === undefined) return null;
  return typeof value === 'number' ? { kind: 'number', value } : { kind: 'text', value: String(value) };
}

serveFloor((request, body) => {
  const { method, url, headers } = request;
  const ctx = { tenantId: headers['x-tenant'], userId: headers['x-user'] };
  const [, , , , form, route] = url.split('?')[0].split('/');
  if (method === 'POST') return submit(ctx, form, body);
  if (route === 'responses') return list(ctx, form);
  if (route === 'export.csv') return { status: 200, body: csv(ctx, form) };
  if (route === 'export.xlsx') return { status: 200, body: xlsx(ctx, form) };
  throw new Error(url);
});
