// The floor of the mail bench: bare node:http over pg that runs the service's own statements and builds the same MIME; no
// token, no validation, no threads. Its process reports its port.
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';
import { MessageListRepository } from '../../../dist/mail-service/messages/message-list.service.js';
import { composeMessage } from '../../../dist/mail-service/mime/compose-message.js';

const [url, user, inbox, drafts, directory] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10, options: '-c search_path=mail_service' });
const query = async ({ name, text }, values) => (await pool.query({ name, text, values })).rows;
const lists = new MessageListRepository({ query });
const STORE = { name: 'store', text: 'SELECT * FROM store_message($1, $2, $3, 0)' };

async function list() {
  const { box, rows } = await lists.list(user, inbox, { limit: 50, headers: null, from: null });
  return `{"success":true,"total":${box.total},"results":[${rows.map(({ json }) => json).join(',')}]}`;
}

async function create(body) {
  const fields = JSON.parse(body);
  const message = {
    from: { address: 'a@b.co', name: '' },
    cc: [],
    bcc: [],
    headers: [],
    references: [],
    ...fields,
  };
  const raw = await buffer(await composeMessage({ ...message, attachments: message.attachments ?? [] }));
  const file = await open(path.join(directory, randomUUID()), 'w');
  await file.write(raw);
  await file.sync();
  await file.close();
  const summary = {
    from: null,
    replyTo: [],
    to: [],
    cc: [],
    bcc: [],
    references: [],
    contentType: {},
    attachments: [],
  };
  const id = randomUUID();
  const row = {
    id,
    thread: id,
    keys: [id],
    rawId: id,
    size: raw.length,
    messageId: id,
    subject: fields.subject,
  };
  const rest = { seen: true, flagged: false, draft: true, summary, text: fields.text, headers: {} };
  const [{ mailbox, uid }] = await query(STORE, [user, drafts, JSON.stringify({ ...row, ...rest })]);
  return JSON.stringify({ success: true, message: { id: Number(uid), mailbox, size: raw.length } });
}

async function serve(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const json = request.method === 'GET' ? await list() : await create(Buffer.concat(chunks).toString());
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) });
  response.end(json);
}

const server = http.createServer((request, response) => void serve(request, response));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
