import { type TestUser, TestApp } from '../../support/app.ts';
import {
  capture,
  DRAFTS,
  INBOX,
  NOWHERE,
  TRASH,
  type Recorded,
  WildDuck,
  withUnseen,
} from '../../support/mail/wild-duck.ts';

const PROJECTS = '6b0108e67d46ea6fe43d6620';

/** The mailboxes of one user as WildDuck stores them: each move assigns a new id. */
class Boxes {
  private readonly next = new Map<string, number>();
  readonly boxes = new Map<string, Set<number>>(
    [INBOX, TRASH, DRAFTS, PROJECTS].map((id) => [id, new Set()]),
  );

  put(mailbox: string): number {
    const id = (this.next.get(mailbox) ?? 0) + 1;
    this.next.set(mailbox, id);
    this.boxes.get(mailbox)!.add(id);
    return id;
  }

  readonly script = ({ method, url, body }: Recorded) => {
    const [, box = '', messages] = /mailboxes\/(\w+)(\/messages)?/.exec(url) ?? [];
    if (method === 'GET' && box === 'resolve') return { status: 200, json: { success: true, id: INBOX } };
    if (method === 'GET' && messages === undefined)
      return this.boxes.has(box)
        ? { status: 200, json: { success: true, id: box } }
        : { status: 404, json: capture('get-mailbox-missing').json };
    if (method !== 'PUT') return undefined;
    return this.update(box, body);
  };

  private update(box: string, body: any) {
    if (!/^\d+(,\d+)*$/.test(body.message)) return { status: 400, json: capture('bulk-put-array').json };
    const here = this.boxes.get(box)!;
    const ids = String(body.message)
      .split(',')
      .map(Number)
      .filter((id) => here.has(id));
    if (body.moveTo === undefined) {
      return ids.length === 0
        ? { status: 404, json: capture('bulk-put-nomatch').json }
        : { status: 200, json: { success: true, updated: ids.length } };
    }
    if (!this.boxes.has(body.moveTo))
      return { status: 500, json: capture('bulk-put-move-missing-target').json };
    if (ids.length === 0) return { status: 404, json: capture('bulk-put-move-missing-messages').json };
    ids.forEach((id) => here.delete(id));
    return {
      status: 200,
      json: { success: true, mailbox: body.moveTo, id: ids.map((id) => [id, this.put(body.moveTo)]) },
    };
  }
}

describe('the dialect', () => {
  let duck: WildDuck;
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    duck = await WildDuck.start();
    app = await TestApp.start(duck.settings);
    [alice] = await app.tenant('acme', 'alice');
    await alice.api.get('/mail/users/me/mailboxes');
  });
  beforeEach(() => duck.clear());
  afterAll(async () => {
    await app?.stop();
    await duck?.stop();
  });

  const mail = (path: string) => `/mail/users/me/mailboxes${path}`;
  const sent = () =>
    duck.mail.map(({ method, url, body }) => [method, url.replace('/users/me/mailboxes', ''), body]);

  describe('cursor and direction', () => {
    const page = capture('list-messages-next');
    const [cursor] = /next=(.+)$/.exec(page.path)!.slice(1) as [string];
    const list = async (query: string) => {
      const response = await alice.api.get(mail(`/${INBOX}/messages?${query}`));
      return {
        answer: response,
        asked: Object.fromEntries(new URLSearchParams(duck.mail.at(-1)!.url.split('?')[1])),
      };
    };

    test('the next page is requested in both dialects', async () => {
      for (const direction of ['&direction=next', '']) {
        const { answer: response, asked } = await list(`limit=2&order=asc&cursor=${cursor}${direction}`);
        expect(response.body).toEqual(withUnseen(page.json));
        expect(asked).toEqual({
          limit: '2',
          order: 'asc',
          cursor,
          next: cursor,
          ...(direction && { direction: 'next' }),
        });
      }
    });

    test('the previous page is requested with `previous`', async () => {
      const back = capture('list-messages-previous');
      const [before] = /previous=(.+)$/.exec(back.path)!.slice(1) as [string];
      for (const direction of ['previous', 'prev', 'PREVIOUS']) {
        const { answer: response, asked } = await list(
          `limit=2&order=asc&cursor=${before}&direction=${direction}`,
        );
        expect(response.body).toEqual(withUnseen(back.json));
        expect(asked).toEqual({ limit: '2', order: 'asc', cursor: before, previous: before, direction });
      }
    });

    test('paging to the end and back returns every message once', async () => {
      const first = await list('limit=2&order=asc&threadCounters=true');
      expect(first.answer.body.previousCursor).toBe(false);
      const second = await list(`limit=2&order=asc&cursor=${first.answer.body.nextCursor}&direction=next`);
      expect(second.answer.body.page).toBe(2);
      const again = await list(
        `limit=2&order=asc&cursor=${second.answer.body.previousCursor}&direction=previous`,
      );
      expect(again.answer.body.page).toBe(1);
    });

    test('a missing, empty or `false` cursor is the first page; empty filters are dropped', async () => {
      for (const query of [
        'limit=3',
        'limit=3&cursor=&direction=&unseen=&order=',
        'limit=3&cursor=false&direction=next',
      ])
        expect((await list(query)).answer.body.page).toBe(1);
      expect((await list('limit=3&cursor=&unseen=&threadCounters=')).asked).toEqual({ limit: '3' });
    });

    test('WildDuck’s own paging parameters and repeated cursors are dropped', async () => {
      expect((await list(`limit=3&next=${cursor}&previous=${cursor}`)).asked).toEqual({ limit: '3' });
      expect((await list(`limit=3&cursor=a&cursor=b`)).asked).toEqual({ limit: '3', cursor: 'a', next: 'a' });
    });

    test('the mail service rejects invalid cursors', async () => {
      duck.script = () => capture('list-messages-garbage-cursor');
      const { answer: response } = await list('cursor=abcdef');
      expect([response.status, response.body]).toEqual([400, capture('list-messages-garbage-cursor').json]);
    });
  });

  describe('lists of messages', () => {
    const bulk = (body: object, box = INBOX) => alice.api.put(mail(`/${box}/messages`), body);

    test.each([
      [[4, 5], '4,5'],
      [['4', '5'], '4,5'],
      [[4, '5', 4], '4,5'],
      [4, '4'],
      ['4', '4'],
      ['4,5', '4,5'],
      [['4,5', 6], '4,5,6'],
    ])('%j is sent as %j', async (message, string) => {
      duck.script = () => ({ status: 200, json: { success: true, updated: 1 } });
      expect((await bulk({ message, seen: true })).body).toEqual({ success: true, updated: 1 });
      expect(sent()).toEqual([['PUT', `/${INBOX}/messages`, { message: string, seen: true }]]);
    });

    test.each([
      [['1:*']],
      ['1:*'],
      ['3:15'],
      ['4, 5'],
      [[0]],
      [[-1]],
      [[1.5]],
      [['01']],
      [['+1']],
      [[9007199254740992]],
      [[null]],
      [[[1]]],
      [{ a: 1 }],
      [true],
      [null],
      ['4,,5'],
      [Array.from({ length: 5_001 }, (_, n) => n + 1)],
    ])('%j is rejected: 422', async (message) => {
      const { status, body } = await bulk({ message, seen: true });
      expect([status, body.error, body.details[0].field]).toEqual([422, 'validation_failed', 'message']);
      expect(duck.mail).toEqual([]);
    });

    test.each([
      [{ seen: true }, { seen: true }, 'bulk-put-nomessage'],
      [{ message: [], seen: true }, { message: '', seen: true }, 'bulk empty string'],
      [{ message: '', seen: true }, { message: '', seen: true }, 'bulk empty string'],
    ])('the mail service rejects %j', async (body, asked, label) => {
      duck.script = () => capture(label);
      const response = await bulk(body);
      expect([response.status, response.body]).toEqual([400, capture(label).json]);
      expect(sent()).toEqual([['PUT', `/${INBOX}/messages`, asked]]);
    });

    test('a long list is split, and its responses are merged', async () => {
      const boxes = new Boxes();
      duck.script = boxes.script;
      const message = Array.from({ length: 601 }, () => boxes.put(INBOX));
      expect((await bulk({ message, seen: true })).body).toEqual({ success: true, updated: 601 });
      expect(duck.mail.map(({ body }) => body.message.split(',').length)).toEqual([250, 250, 101]);
      const { body } = await bulk({ message, moveTo: TRASH });
      expect(body).toEqual({ success: true, mailbox: TRASH, id: message.map((id) => [id, id]) });
      const none = await bulk({ message, seen: true });
      expect([none.status, none.body]).toEqual([404, capture('bulk-put-nomatch').json]);
      const some = await bulk({ message: [...message, boxes.put(INBOX)], seen: true });
      expect(some.body).toEqual({ success: true, updated: 1 });
    });

    test('an error in the middle of a split list is returned', async () => {
      let calls = 0;
      duck.script = () => {
        calls += 1;
        return calls === 2
          ? { status: 400, json: { error: 'enough', code: 'X' } }
          : { status: 200, json: { success: true, updated: 250 } };
      };
      const { status, body } = await bulk({
        message: Array.from({ length: 700 }, (_, n) => n + 1),
        seen: true,
      });
      expect([status, body, calls]).toEqual([400, { error: 'enough', code: 'X' }, 2]);
    });
  });

  describe('restoreToOrigin', () => {
    let boxes: Boxes;
    beforeEach(async () => {
      boxes = new Boxes();
      duck.script = boxes.script;
      await app.sql('DELETE FROM mail_moves');
    });
    const move = async (from: string, message: unknown, moveTo: string) =>
      (await alice.api.put(mail(`/${from}/messages`), { message, moveTo })).body.id.map(
        ([, id]: number[]) => id,
      ) as number[];
    const restore = (box: string, message: unknown, more: object = {}) =>
      alice.api.put(mail(`/${box}/messages`), { message, restoreToOrigin: true, ...more });
    const content = () => Object.fromEntries([...boxes.boxes].map(([id, set]) => [id, set.size]));

    test('moves messages back to their original mailboxes', async () => {
      const [a, b] = [boxes.put(INBOX), boxes.put(PROJECTS)];
      const trashed = [...(await move(INBOX, [a], TRASH)), ...(await move(PROJECTS, [b], TRASH))];
      duck.requests.length = 0;
      const { status, body } = await restore(TRASH, trashed, { seen: true });
      expect(status).toBe(200);
      expect(body).toEqual({
        success: true,
        id: [
          [1, 2],
          [2, 2],
        ],
        restored: [
          { mailbox: INBOX, id: [[1, 2]] },
          { mailbox: PROJECTS, id: [[2, 2]] },
        ],
      });
      expect(sent().filter(([method]) => method === 'PUT')).toEqual([
        ['PUT', `/${TRASH}/messages`, { message: '1', moveTo: INBOX, seen: true }],
        ['PUT', `/${TRASH}/messages`, { message: '2', moveTo: PROJECTS, seen: true }],
      ]);
      expect(JSON.stringify(sent())).not.toContain('restoreToOrigin');
      expect(content()).toMatchObject({ [INBOX]: 1, [PROJECTS]: 1, [TRASH]: 0 });
      expect(await app.sql('SELECT * FROM mail_moves')).toEqual([]);
    });

    test('with one original mailbox, returns WildDuck’s own response', async () => {
      const trashed = await move(PROJECTS, [boxes.put(PROJECTS), boxes.put(PROJECTS)], TRASH);
      expect((await restore(TRASH, trashed)).body).toEqual({
        success: true,
        mailbox: PROJECTS,
        id: [
          [1, 3],
          [2, 4],
        ],
      });
    });

    test('a message whose origin is unknown or deleted goes to the inbox', async () => {
      const [trashed] = await move(PROJECTS, [boxes.put(PROJECTS)], TRASH);
      const foreign = boxes.put(TRASH);
      boxes.boxes.delete(PROJECTS);
      const { body } = await restore(TRASH, [trashed, foreign]);
      expect(body).toMatchObject({ success: true, mailbox: INBOX });
      expect(content()).toMatchObject({ [INBOX]: 2, [TRASH]: 0 });
    });

    test('a failure to find the original mailbox moves nothing', async () => {
      const trashed = await move(PROJECTS, [boxes.put(PROJECTS)], TRASH);
      const failure = { error: 'MongoDB Error', code: 'InternalDatabaseError' };
      duck.script = (request) =>
        request.url.endsWith(PROJECTS) ? { status: 500, json: failure } : boxes.script(request);
      const { status, body } = await restore(TRASH, trashed);
      expect([status, body]).toEqual([500, failure]);
      expect(content()).toMatchObject({ [INBOX]: 0, [TRASH]: 1 });
      duck.script = boxes.script;
      expect((await restore(TRASH, trashed)).body.mailbox).toBe(PROJECTS);
    });

    test('a move within a mailbox keeps the original mailbox', async () => {
      const trashed = await move(PROJECTS, [boxes.put(PROJECTS)], TRASH);
      const again = await move(TRASH, [...trashed, boxes.put(TRASH)], TRASH);
      expect((await restore(TRASH, again.slice(0, 1))).body.mailbox).toBe(PROJECTS);
      expect((await restore(TRASH, again.slice(1))).body.mailbox).toBe(INBOX);
    });

    test('two moves are restored step by step; a manual move back removes the record', async () => {
      const [one] = await move(INBOX, [boxes.put(INBOX)], PROJECTS);
      const [two] = await move(PROJECTS, [one], TRASH);
      expect((await restore(TRASH, [two])).body.mailbox).toBe(PROJECTS);
      const [three] = await move(PROJECTS, [[...boxes.boxes.get(PROJECTS)!][0]], TRASH);
      const [four] = await move(TRASH, [three], PROJECTS);
      expect(await app.sql('SELECT * FROM mail_moves WHERE message_id = $1', [four])).toEqual([]);
    });

    test('a move of a single message is recorded too', async () => {
      const id = boxes.put(PROJECTS);
      duck.script = (request) =>
        request.url.endsWith(`/messages/${id}`)
          ? boxes.script({ ...request, body: { ...request.body, message: String(id) } })
          : boxes.script(request);
      await alice.api.put(mail(`/${PROJECTS}/messages/${id}`), { moveTo: TRASH });
      expect((await restore(TRASH, [1])).body.mailbox).toBe(PROJECTS);
    });

    test('a message without a record stays in the inbox', async () => {
      const id = boxes.put(INBOX);
      expect((await restore(INBOX, [id])).body).toEqual({ success: true, updated: 0 });
      expect(content()).toMatchObject({ [INBOX]: 1 });
    });

    test('unknown messages are a 404, as for any move', async () => {
      const { status, body } = await restore(TRASH, [99]);
      expect([status, body]).toEqual([404, capture('bulk-put-move-missing-messages').json]);
    });

    test('records are separate per user and per workspace', async () => {
      await move(PROJECTS, [boxes.put(PROJECTS)], TRASH);
      const [row] = await app.sql(
        'SELECT tenant_id, user_id, mailbox, message_id::int, origin FROM mail_moves',
      );
      expect(row).toEqual({
        tenant_id: alice.tenantId,
        user_id: alice.id,
        mailbox: TRASH,
        message_id: 1,
        origin: PROJECTS,
      });
      const [bob] = await app.tenant('other', 'bob');
      boxes.put(TRASH);
      const response = await bob.api.put(mail(`/${TRASH}/messages`), { message: [1], restoreToOrigin: true });
      expect(response.body.mailbox).toBe(INBOX);
    });

    test.each([
      [{ restoreToOrigin: 'maybe' }, 'restoreToOrigin'],
      [{ restoreToOrigin: null }, 'restoreToOrigin'],
      [{ restoreToOrigin: true, moveTo: INBOX }, 'restoreToOrigin'],
    ])('%j: 422', async (fields, field) => {
      const { status, body } = await alice.api.put(mail(`/${TRASH}/messages`), { message: [1], ...fields });
      expect([status, body.error, body.details[0].field]).toEqual([422, 'validation_failed', field]);
      expect(duck.mail).toEqual([]);
    });

    test('false has no effect', async () => {
      const id = boxes.put(INBOX);
      await alice.api.put(mail(`/${INBOX}/messages`), { message: [id], seen: true, restoreToOrigin: false });
      expect(sent()).toEqual([['PUT', `/${INBOX}/messages`, { message: '1', seen: true }]]);
    });
  });

  describe('a mailbox that is sent back as it was read', () => {
    const box = {
      id: INBOX,
      name: 'INBOX',
      path: 'INBOX',
      specialUse: null,
      subscribed: true,
      hidden: false,
    };
    const put = (body: object) => alice.api.put(mail(`/${INBOX}`), body);
    const rejected = capture('put-mailbox-inbox-rename');
    beforeEach(() => {
      duck.script = ({ method, body }) => {
        if (method === 'GET') return { status: 200, json: { success: true, ...box } };
        return 'path' in body ? rejected : { status: 200, json: { success: true } };
      };
    });

    test('is changed without its own path, which WildDuck rejects', async () => {
      const { status, body } = await put({ ...box, subscribed: false });
      expect([status, body]).toEqual([200, { success: true }]);
      expect(sent().at(-1)).toEqual(['PUT', `/${INBOX}`, { subscribed: false, hidden: false }]);
    });

    test('is not changed when it has another path', async () => {
      const { status, body } = await put({ ...box, path: 'Foo', subscribed: false });
      expect([status, body]).toEqual([rejected.status, rejected.json]);
      expect(sent().filter(([method]) => method === 'PUT')).toHaveLength(1);
    });
  });

  test.each([
    [{ seen: true, unseen: true }, true, { seen: false }],
    [{ seen: true, unseen: true }, false, { seen: true }],
    [{ seen: false, unseen: false }, true, { seen: false }],
    [{ seen: true, unseen: false }, true, { seen: true }],
  ])('%j for a message whose `seen` is %j sets %j', async (given, seen, expected) => {
    duck.script = ({ method }) => ({
      status: 200,
      json: method === 'GET' ? { success: true, id: 1, seen } : { success: true, updated: 1 },
    });
    expect((await alice.api.put(mail(`/${INBOX}/messages/1`), given)).status).toBe(200);
    expect(sent().at(-1)).toEqual(['PUT', `/${INBOX}/messages/1`, expected]);
  });

  describe('`subscribed` of a new mailbox', () => {
    const create = (subscribed: unknown) => alice.api.post(mail(''), { path: 'Subs', subscribed });
    const made = { success: true, id: PROJECTS };
    const described = { path: 'Subs', name: 'Subs' };

    test.each([[true], ['true'], [1]])('%j is the default', async (subscribed) => {
      duck.script = () => ({ status: 200, json: made });
      expect((await create(subscribed)).body).toEqual({ ...made, ...described, subscribed: true });
      expect(sent()).toEqual([['POST', '', { path: 'Subs' }]]);
    });

    test.each([[false], ['no']])('%j is set after the creation', async (subscribed) => {
      duck.script = ({ method }) => ({ status: 200, json: method === 'POST' ? made : { success: true } });
      expect((await create(subscribed)).body).toEqual({ ...made, ...described, subscribed: false });
      expect(sent()).toEqual([
        ['POST', '', { path: 'Subs' }],
        ['PUT', `/${PROJECTS}`, { subscribed: false }],
      ]);
    });

    test('a failed creation sends no update; a failed update is returned', async () => {
      duck.script = () => capture('create-mailbox-duplicate');
      expect((await create(false)).body).toEqual(capture('create-mailbox-duplicate').json);
      expect(sent()).toHaveLength(1);
      duck.script = ({ method }) =>
        method === 'POST' ? { status: 200, json: made } : { status: 400, json: { error: 'no', code: 'X' } };
      const { status, body } = await create(false);
      expect([status, body]).toEqual([400, { error: 'no', code: 'X' }]);
    });

    test('an invalid boolean is rejected before the creation', async () => {
      duck.script = () => capture('create-mailbox-subscribed');
      expect((await create('perhaps')).status).toBe(400);
      expect(sent()).toEqual([['POST', '', { path: 'Subs', subscribed: 'perhaps' }]]);
    });
  });

  describe('messages', () => {
    const create = async (body: object) => {
      duck.script = () => ({
        status: 200,
        json: { success: true, message: { id: 1, mailbox: DRAFTS, size: 1 } },
      });
      await alice.api.post(mail(`/${DRAFTS}/messages`), body);
      return duck.mail.at(-1)!.body;
    };

    test('WildDuck’s own names of attachment members are forwarded', async () => {
      const attachments = (capture('upload-message-structured').body as any).attachments;
      expect((await create({ attachments })).attachments).toEqual(attachments);
    });

    test.each([
      ['mimeType', 'contentId', 'disposition'],
      ['mime_type', 'content_id', 'content_disposition'],
      ['type', 'cid', 'contentDisposition'],
      ['content_type', 'contentID', 'disposition'],
    ])('%s, %s and %s are put into them', async (type, cid, disposition) => {
      const { attachments } = await create({
        attachments: [
          {
            filename: 'a',
            [type]: 'image/png',
            content: 'QQ==',
            [cid]: 'x@y',
            [disposition]: 'inline',
            encoding: 'bogus',
            path: '/etc/passwd',
            href: 'http://x',
          },
        ],
      });
      expect(attachments).toEqual([
        {
          filename: 'a',
          contentType: 'image/png',
          content: 'QQ==',
          cid: 'x@y',
          contentDisposition: 'inline',
        },
      ]);
    });

    test.each([
      ['data:image/png;base64,QQ==', { contentType: 'image/png', content: 'QQ==' }],
      ['data:text/plain;charset=utf-8;base64,QQ==', { contentType: 'text/plain', content: 'QQ==' }],
      ['data:;base64,QQ==', { content: 'QQ==' }],
      ['DATA:image/svg+xml;BASE64,QQ==', { contentType: 'image/svg+xml', content: 'QQ==' }],
      [
        'data:text/plain,A%20b',
        { contentType: 'text/plain', content: Buffer.from('A b').toString('base64') },
      ],
      ['QQ==', { content: 'QQ==' }],
      ['', { content: '' }],
      [7, { content: 7 }],
    ])('content %j is stored as what it stands for', async (content, expected) => {
      expect((await create({ attachments: [{ content }] })).attachments).toEqual([expected]);
    });

    test('an explicit type takes precedence over the type of a data URL', async () => {
      const attachments = [{ content: 'data:text/plain;base64,QQ==', contentType: 'text/csv' }];
      expect((await create({ attachments })).attachments).toEqual([
        { content: 'QQ==', contentType: 'text/csv' },
      ]);
    });

    test.each(['reply-all', 'reply_all', 'replyAll', 'replyall', 'Reply All'])(
      '%s is replyAll',
      async (action) => {
        const reference = { mailbox: INBOX, id: 1, action, attachments: ['ATT00001'], evil: 1 };
        expect((await create({ reference })).reference).toEqual({
          mailbox: INBOX,
          id: 1,
          action: 'replyAll',
          attachments: ['ATT00001'],
        });
      },
    );

    test('addresses, references and previous drafts keep known members only', async () => {
      const evil = { $where: 1, group: [{ address: 'x@y' }] };
      expect(
        await create({
          from: { name: 'a', address: 'a@x', ...evil },
          to: [{ address: 'b@x', ...evil }, 'c@x'],
          cc: 'd@x',
          bcc: null,
          replyTo: [{ address: 'e@x' }],
          replacePrevious: { mailbox: DRAFTS, id: 4, ...evil },
          reference: 'x',
          attachments: 'x',
        }),
      ).toEqual({
        from: { name: 'a', address: 'a@x' },
        to: [{ address: 'b@x' }, 'c@x'],
        cc: 'd@x',
        bcc: null,
        replyTo: [{ address: 'e@x' }],
        replacePrevious: { mailbox: DRAFTS, id: 4 },
        reference: 'x',
        attachments: 'x',
      });
    });
  });

  describe('flags of one message', () => {
    const update = async (body: object) => {
      duck.script = ({ body: asked }) => {
        const values = Object.values(asked);
        // WildDuck's response to an update that sets one flag and clears another.
        return values.includes(true) && values.includes(false)
          ? capture('put-message-flags')
          : { status: 200, json: { success: true, updated: 1 } };
      };
      const { status } = await alice.api.put(mail(`/${INBOX}/messages/1`), body);
      return [status, ...duck.mail.map((request) => request.body)];
    };

    test('setting one flag and clearing another takes two requests', async () => {
      expect(await update({ seen: true, flagged: false })).toEqual([200, { flagged: false }, { seen: true }]);
      duck.clear();
      expect(await update({ seen: false, flagged: false, deleted: 'yes' })).toEqual([
        200,
        { seen: false, flagged: false },
        { deleted: 'yes' },
      ]);
    });

    test('setting several flags takes one request', async () => {
      expect(await update({ seen: true, flagged: true })).toEqual([200, { seen: true, flagged: true }]);
    });

    test('`unseen` is the opposite of `seen`', async () => {
      expect(await update({ unseen: true })).toEqual([200, { seen: false }]);
      duck.clear();
      expect(await update({ unseen: 'false' })).toEqual([200, { seen: true }]);
    });

    test('flags are changed before a move, under the old id', async () => {
      duck.script = () => ({ status: 200, json: { success: true, mailbox: TRASH, id: [[1, 9]] } });
      await alice.api.put(mail(`/${INBOX}/messages/1`), { seen: false, moveTo: TRASH });
      expect(sent()).toEqual([
        ['PUT', `/${INBOX}/messages/1`, { seen: false }],
        ['PUT', `/${INBOX}/messages/1`, { moveTo: TRASH }],
      ]);
    });

    test('the second request is not sent when the first fails', async () => {
      duck.script = () => capture('put-message-missing');
      const { status } = await alice.api.put(mail(`/${INBOX}/messages/9999`), { seen: true, flagged: false });
      expect([status, duck.mail.length]).toEqual([404, 1]);
    });

    test('a stored message cannot become a draft, which could have a forged sender', async () => {
      duck.script = () => capture('put-message-nochange');
      const { status, body } = await alice.api.put(mail(`/${INBOX}/messages/2`), { draft: true });
      expect([status, body]).toEqual([500, { error: 'Nothing was changed' }]);
      expect(sent()).toEqual([['PUT', `/${INBOX}/messages/2`, {}]]);
    });
  });

  test('responses keep WildDuck’s own fields and statuses', async () => {
    const { status, body } = await alice.api.get(mail(`/${INBOX}/messages?limit=3`));
    expect(status).toBe(200);
    expect(body.results[0]).toMatchObject({ seen: expect.any(Boolean), attachments: expect.any(Boolean) });
    expect(await alice.api.get(mail(`/${NOWHERE}`))).toMatchObject({ status: 404 });
  });
});
