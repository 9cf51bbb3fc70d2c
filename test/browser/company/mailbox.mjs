// The mails of the suite: a relay that stores them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

const MAIL_MS = 60_000;

export class Mailbox {
  #mails = [];
  #server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    authOptional: true,
    logger: false,
    onData: (stream, _session, done) => {
      const chunks = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        this.#mails.push(Buffer.concat(chunks));
        done();
      });
    },
  });

  async start() {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server.server, 'listening');
  }

  get url() {
    return `smtp://127.0.0.1:${this.#server.server.address().port}`;
  }

  /** The link in the newest mail with this subject. */
  async linkIn(subject) {
    const end = Date.now() + MAIL_MS;
    for (;;) {
      const parsed = await Promise.all(this.#mails.map((raw) => simpleParser(raw)));
      const mail = parsed.findLast((each) => subject.test(each.subject));
      const [link] = /http:\/\/\S+\/account\/\S+/.exec(mail?.text ?? '') ?? [];
      if (link) return link;
      assert.ok(Date.now() < end, `no mail with the subject ${subject}`);
      await delay(200);
    }
  }

  stop() {
    this.#server.close();
  }
}
