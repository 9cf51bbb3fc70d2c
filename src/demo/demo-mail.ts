import { setTimeout as delay } from 'node:timers/promises';
import type { Created, DemoClient, DemoName } from './demo-client.js';
import type { DemoClients } from './demo-content.js';
import { AGENDA, HELLO, LETTERS, OWN_MAILBOX, THREAD } from './data/content.js';

const MAILBOXES = '/mail/users/me/mailboxes';
const POLL_MS = 25;
/** The service starts without the rest of a conversation when a message takes longer. */
const DELIVERY_MS = 5_000;

interface Place {
  mailbox: string;
  id: number;
}

type Send = (from: DemoName, to: DemoName[], fields: object) => Promise<void>;

/** Sends single messages and a conversation between the demo users, through the embedded mail service. */
export async function createMail(clients: DemoClients): Promise<void> {
  const [inboxes, outboxes] = [new Map<DemoName, string>(), new Map<DemoName, string>()];
  for (const [name, client] of Object.entries(clients) as [DemoName, DemoClient][]) {
    inboxes.set(name, await inboxOf(client));
    outboxes.set(name, (await client.post<{ id: string }>(MAILBOXES, { path: OWN_MAILBOX })).id);
  }
  const send: Send = (from, to, fields) =>
    submit(clients[from], outboxes.get(from) as string, {
      ...fields,
      to: to.map((name) => ({ address: clients[name].email })),
    });
  const received = (name: DemoName, subject: string) =>
    arrived(clients[name], inboxes.get(name) as string, subject);
  for (const { from, to, ...fields } of LETTERS) {
    await send(from, [to], { ...fields, attachments: [attachment(HELLO)] });
    await received(to, fields.subject);
  }
  await converse(send, received);
  const first = await received('bob', THREAD[0]!.subject);
  if (first)
    await clients.bob.put(`${MAILBOXES}/${first.mailbox}/messages/${first.id}`, {
      seen: true,
      flagged: true,
    });
}

async function converse(
  send: Send,
  received: (name: DemoName, subject: string) => Promise<Place | undefined>,
): Promise<void> {
  let previous: string | undefined;
  for (const { from, to, withAgenda, ...fields } of THREAD) {
    const original = previous === undefined ? undefined : await received(from, previous);
    if (previous !== undefined && !original) return;
    await send(from, to, {
      ...fields,
      ...(original && { reference: { ...original, action: 'replyAll' } }),
      ...(withAgenda && { attachments: [attachment(AGENDA)] }),
    });
    previous = fields.subject;
  }
}

async function inboxOf(client: DemoClient): Promise<string> {
  const { results } = await client.call<{ results: { path: string; id: string }[] }>('GET', MAILBOXES);
  return results.find(({ path }) => path === 'INBOX')!.id;
}

/** Submits a message from the user's own mailbox. Drafts stays empty: its first message is that of the API examples. */
async function submit(client: DemoClient, mailbox: string, fields: object): Promise<void> {
  const draft = { mailbox, draft: true, ...fields };
  const { message } = await client.post<Created<'message', number>>('/mail/draft', draft);
  await client.post('/mail/draft/submit', { mailbox_id: mailbox, message_id: String(message.id) });
}

/** Waits for a message by its subject. */
async function arrived(client: DemoClient, mailbox: string, subject: string): Promise<Place | undefined> {
  const deadline = Date.now() + DELIVERY_MS;
  while (Date.now() < deadline) {
    const { results } = await client.call<{ results: { id: number; subject: string }[] }>(
      'GET',
      `${MAILBOXES}/${mailbox}/messages`,
    );
    const found = results.find((message) => message.subject === subject);
    if (found) return { mailbox, id: found.id };
    await delay(POLL_MS);
  }
  return undefined;
}

function attachment({ filename, text }: { filename: string; text: string }) {
  return {
    filename,
    contentType: 'text/plain',
    encoding: 'base64',
    content: Buffer.from(text).toString('base64'),
  };
}
