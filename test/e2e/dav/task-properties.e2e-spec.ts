import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient } from '../../support/dav/dav-client.ts';

const ICS = { 'content-type': 'text/calendar' };
const textOf = (uid: string, ...lines: string[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Test//EN',
    'BEGIN:VTODO',
    `UID:${uid}`,
    ...lines,
    'END:VTODO',
    'END:VCALENDAR',
    '',
  ].join('\r\n');
const unfolded = (text: string): string => text.replaceAll('\r\n ', '');

/** What task programs store besides the fields of the API. */
describe('properties of tasks of CalDAV programs', () => {
  let app: TestApp;
  let ann: TestUser;
  let client: DavClient;
  let path: string;
  let id: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    client = await DavClient.of(app, ann);
    const { body } = await ann.api.post('/task_folders', { name: 'Errands' });
    id = body.folder.id;
    path = `${client.home('calendars')}${id}/`;
  });
  afterAll(() => app?.stop());

  const put = async (to: string, text: string) => (await client.send('PUT', to, text, ICS)).status;
  const read = async (to: string) => unfolded((await client.send('GET', to)).text);
  /** Returns what the program reads, and expects that sending it back changes nothing. */
  const putBack = async (to: string): Promise<string> => {
    const { text, headers } = await client.send('GET', to);
    expect(await put(to, text)).toBe(204);
    expect(await client.etag(to)).toBe(headers.get('etag'));
    return unfolded(text);
  };
  const only = async (title: string) =>
    (await ann.api.get(`/tasks?folder_id=${id}&limit=100`)).body.tasks.find(
      (task: any) => task.title === title,
    );

  test('the time of a completion is that of the program', async () => {
    const done = (uid: string, at: string) =>
      textOf(uid, `SUMMARY:${uid}`, 'STATUS:COMPLETED', `COMPLETED:${at}`, 'PERCENT-COMPLETE:100');
    const completedAt = async (title: string) =>
      (await ann.api.get(`/tasks?folder_id=${id}&status=done&limit=100`)).body.tasks.find(
        (task: any) => task.title === title,
      ).completed_at;
    expect(await put(`${path}moved.ics`, done('moved', '20190102T101112Z'))).toBe(201);
    expect(await completedAt('moved')).toBe('2019-01-02T10:11:12.000Z');
    expect(await putBack(`${path}moved.ics`)).toContain('COMPLETED:20190102T101112Z');
    expect(await put(`${path}moved.ics`, done('moved', '20190102T111112Z'))).toBe(204);
    expect(await completedAt('moved')).toBe('2019-01-02T11:11:12.000Z');
    expect(await put(`${path}later.ics`, textOf('later', 'SUMMARY:later'))).toBe(201);
    expect(await put(`${path}later.ics`, done('later', '20250102T101112Z'))).toBe(204);
    expect(await completedAt('later')).toBe('2025-01-02T10:11:12.000Z');
    expect(await put(`${path}future.ics`, done('future', '20990102T101112Z'))).toBe(201);
    expect(Date.parse(await completedAt('future'))).toBeLessThanOrEqual(Date.now());
  });

  test.each([
    [
      'days',
      ['DTSTART;VALUE=DATE:20270103', 'DUE;VALUE=DATE:20270105'],
      { date: '2027-01-09' },
      'DUE;VALUE=DATE:20270109',
    ],
    [
      'times',
      ['DTSTART:20270103T080000Z', 'DUE:20270105T080000Z'],
      { due_at: '2027-01-09T08:00:00Z' },
      'DUE:20270109T080000Z',
    ],
    [
      'a length',
      ['DTSTART:20270103T080000Z', 'DURATION:PT2H'],
      { due_at: '2027-01-09T08:00:00Z' },
      'DUE:20270109T080000Z',
    ],
    ['no due date', ['DTSTART;VALUE=DATE:20270103', 'DUE;VALUE=DATE:20270105'], { date: null }, ''],
  ])('another due date leaves the start as it is: %s', async (name, dates, change, due) => {
    const to = `${path}start-${name.replace(/ /g, '-')}.ics`;
    expect(await put(to, textOf(`start ${name}`, `SUMMARY:start ${name}`, ...dates))).toBe(201);
    const { id: task } = await only(`start ${name}`);
    expect((await ann.api.patch(`/tasks/${task}`, change)).status).toBe(200);
    const lines = (await putBack(to)).split('\r\n').filter((line) => /^(?:DTSTART|DUE|DURATION)/.test(line));
    expect(lines.toSorted()).toEqual([dates[0], due].filter(Boolean));
  });

  test('a due date before the start, or of another kind, leaves it out', async () => {
    const to = `${path}early.ics`;
    await put(to, textOf('early', 'SUMMARY:early', 'DTSTART;VALUE=DATE:20270103', 'DUE;VALUE=DATE:20270105'));
    const { id: task } = await only('early');
    await ann.api.patch(`/tasks/${task}`, { date: '2027-01-02' });
    expect(await read(to)).not.toContain('DTSTART');
    await ann.api.patch(`/tasks/${task}`, { date: '2027-01-08' });
    expect(await read(to)).toContain('DTSTART;VALUE=DATE:20270103');
    await ann.api.patch(`/tasks/${task}`, { due_at: '2027-01-09T08:00:00Z' });
    expect(await read(to)).not.toContain('DTSTART');
  });

  test('a task of a telephone that is due before its start, or on the day of its start, is stored', async () => {
    const same = ['DTSTART;TZID=Europe/Berlin:20270105T100000', 'DUE;VALUE=DATE:20270105'];
    expect(await put(`${path}same-day.ics`, textOf('same', 'SUMMARY:same', ...same))).toBe(201);
    expect((await only('same')).date).toBe('2027-01-05');
    expect(await putBack(`${path}same-day.ics`)).toContain(same[0]);
    const before = ['DTSTART;VALUE=DATE:20270106', 'DUE;VALUE=DATE:20270105'];
    expect(await put(`${path}before.ics`, textOf('before', 'SUMMARY:before', ...before))).toBe(201);
    expect((await only('before')).date).toBe('2027-01-05');
    expect(await putBack(`${path}before.ics`)).not.toContain('DTSTART');
  });

  test('alarms beyond the reminders that a task can have stay', async () => {
    const alarms = Array.from({ length: 12 }, (_, n) => [
      'BEGIN:VALARM',
      'ACTION:DISPLAY',
      'DESCRIPTION:d',
      `TRIGGER;RELATED=END:-PT${n + 1}H`,
      'END:VALARM',
    ]).flat();
    const to = `${path}alarms.ics`;
    expect(await put(to, textOf('alarms', 'SUMMARY:alarms', 'DUE:20270105T100000Z', ...alarms))).toBe(201);
    const triggers = async () =>
      (await putBack(to)).split('\r\n').filter((line) => line.startsWith('TRIGGER')).length;
    expect(await triggers()).toBe(12);
    const { id: task, reminders } = await only('alarms');
    expect(reminders).toHaveLength(10);
    await ann.api.patch(`/tasks/${task}`, { title: 'other' });
    expect(await triggers()).toBe(12);
  });

  test('everything survives, also an edit of the HTTP API', async () => {
    const to = `${path}all.ics`;
    const lines = [
      'SUMMARY;LANGUAGE=en:Everything',
      'DESCRIPTION:Two  spaces\\n\\n\\n\\nand lines',
      'DTSTART;TZID=Europe/Berlin:20271201T090000',
      'DUE;TZID=Europe/Berlin:20271201T170000',
      'STATUS:IN-PROCESS',
      'PERCENT-COMPLETE:40',
      'PRIORITY:7',
      'CATEGORIES:a,b',
      'CLASS:PRIVATE',
      'LOCATION:Office',
      'GEO:52.5;13.4',
      'RELATED-TO;RELTYPE=PARENT:parent',
      'ATTENDEE;PARTSTAT=ACCEPTED:mailto:a@example.com',
      'SEQUENCE:3',
      'X-APPLE-SORT-ORDER:5',
      'BEGIN:VALARM',
      'ACTION:DISPLAY',
      'DESCRIPTION:Now',
      'UID:alarm',
      'ACKNOWLEDGED:20271201T080000Z',
      'TRIGGER;RELATED=END:-PT1H',
      'END:VALARM',
    ];
    expect(await put(to, textOf('all', ...lines))).toBe(201);
    const text = await putBack(to);
    for (const line of lines) expect(text).toContain(`${line}\r\n`);
    const task = await only('Everything');
    expect(task).toMatchObject({
      status: 'in_progress',
      priority: 'low',
      labels: ['a', 'b'],
      reminders: [{ minutes_before: 60 }],
    });
    await ann.api.patch(`/tasks/${task.id}`, {
      title: 'Edited',
      priority: 'high',
      description: '<p>Short</p>',
    });
    const edited = await putBack(to);
    for (const line of [
      'SUMMARY:Edited',
      'PRIORITY:3',
      'DESCRIPTION:Short',
      'LOCATION:Office',
      'X-APPLE-SORT-ORDER:5',
      'ACKNOWLEDGED:20271201T080000Z',
    ])
      expect(edited).toContain(`${line}\r\n`);
    await ann.api.patch(`/tasks/${task.id}`, { due_at: '2027-11-01T10:00:00Z', done: true });
    const moved = await putBack(to);
    expect(moved).toContain('DUE;TZID=Europe/Berlin:20271101T110000\r\n');
    expect(moved).toMatch(/STATUS:COMPLETED\r\n/);
    expect(moved).toMatch(/COMPLETED:20\d{6}T\d{6}Z\r\n/);
    expect(moved.slice(moved.indexOf('BEGIN:VTODO'))).not.toMatch(/DTSTART|PERCENT-COMPLETE/);
  });

  test('a change of unknown properties alone is a change of the task', async () => {
    const to = `${path}unknown.ics`;
    expect(await put(to, textOf('unknown', 'SUMMARY:Unknown', 'X-A:1'))).toBe(201);
    const etag = await client.etag(to);
    expect(await put(to, textOf('unknown', 'SUMMARY:Unknown', 'X-A:2'))).toBe(204);
    expect(await client.etag(to)).not.toBe(etag);
    expect(await read(to)).toContain('X-A:2\r\n');
    expect(await put(to, textOf('unknown', 'SUMMARY:Unknown'))).toBe(204);
    expect(await read(to)).not.toContain('X-A');
  });

  test('a repetition from the completion, a web address and a reopened task', async () => {
    const { body } = await ann.api.post('/tasks', {
      title: 'Filter',
      folder_id: id,
      date: '2027-12-01',
      recurrence: { rrule: 'FREQ=DAILY;INTERVAL=3', from: 'completion' },
      references: [{ type: 'url', url: 'https://example.com/filter' }],
    });
    const to = `${path}${body.task.id}.ics`;
    const text = await putBack(to);
    for (const line of ['X-WORKSPACE-REPEAT-FROM:COMPLETION', 'URL:https://example.com/filter'])
      expect(text).toContain(`${line}\r\n`);
    // A program that does not know the property changes the rule.
    const without = text
      .replace('X-WORKSPACE-REPEAT-FROM:COMPLETION\r\n', '')
      .replace('INTERVAL=3', 'INTERVAL=4');
    expect(await put(to, without.replace('/filter', '/other'))).toBe(204);
    expect(await only('Filter')).toMatchObject({
      recurrence: { rrule: 'FREQ=DAILY;INTERVAL=4', from: 'completion' },
      references: [{ type: 'url', url: 'https://example.com/other' }],
    });

    const old = `${path}old.ics`;
    expect(
      await put(old, textOf('old', 'SUMMARY:Old', 'STATUS:COMPLETED', 'COMPLETED:20200101T000000Z')),
    ).toBe(201);
    expect(await putBack(old)).toContain('COMPLETED:20200101T000000Z\r\n');
    const { id: taskId } = await only('Old');
    await ann.api.patch(`/tasks/${taskId}`, { done: false });
    expect(await putBack(old)).not.toContain('COMPLETED');
    await ann.api.patch(`/tasks/${taskId}`, { done: true });
    expect(await putBack(old)).not.toContain('COMPLETED:20200101T000000Z');
  });

  test('what the task cannot express stays: an hourly rule, instances, an alarm of another kind', async () => {
    const to = `${path}hourly.ics`;
    const alarm = ['BEGIN:VALARM', 'ACTION:AUDIO', 'TRIGGER;RELATED=END:PT10M', 'END:VALARM'];
    const lines = ['DTSTART:20271201T090000Z', 'DUE:20271201T093000Z', 'RRULE:FREQ=HOURLY;COUNT=3', ...alarm];
    const instance = [
      'BEGIN:VTODO',
      'UID:hourly',
      'RECURRENCE-ID:20271201T100000Z',
      'SUMMARY:Instance',
      'END:VTODO',
      '',
    ].join('\r\n');
    const text = textOf('hourly', 'SUMMARY:Hourly', ...lines).replace(
      'END:VCALENDAR',
      `${instance}END:VCALENDAR`,
    );
    expect(await put(to, text)).toBe(201);
    const found = await putBack(to);
    for (const line of [...lines, 'RECURRENCE-ID:20271201T100000Z']) expect(found).toContain(`${line}\r\n`);
    expect(await only('Hourly')).toMatchObject({ recurrence: null, reminders: [] });
  });

  test('other forms of a description do not stay after it changed', async () => {
    const to = `${path}styled.ics`;
    const lines = ['X-ALT-DESC;FMTTYPE=text/html:<p>Old</p>', 'STYLED-DESCRIPTION;VALUE=TEXT:<p>Old</p>'];
    expect(await put(to, textOf('styled', 'SUMMARY:Styled', 'DESCRIPTION:Old', ...lines))).toBe(201);
    const { id: taskId } = await only('Styled');
    await ann.api.patch(`/tasks/${taskId}`, { priority: 'high' });
    for (const line of lines) expect(await putBack(to)).toContain(`${line}\r\n`);
    await ann.api.patch(`/tasks/${taskId}`, { description: '<p>New</p>' });
    expect(await putBack(to)).not.toContain('Old');
  });

  test('a task with DUE and DURATION has its due date', async () => {
    for (const [n, length] of ['PT1H', 'P2D'].entries()) {
      const to = `${path}both-${n}.ics`;
      const lines = ['DUE:20271201T170000Z', `DURATION:${length}`, 'RRULE:FREQ=DAILY', `SUMMARY:Both ${n}`];
      expect(await put(to, textOf(`both-${n}`, ...lines))).toBe(201);
      const text = await putBack(to);
      expect([text.includes('DUE:20271201T170000Z'), text.includes('DURATION')]).toEqual([true, false]);
      expect(await only(`Both ${n}`)).toMatchObject({ due_at: '2027-12-01T17:00:00.000Z' });
    }
  });

  test('a task has DUE or DURATION', async () => {
    const to = `${path}long.ics`;
    const lines = ['DTSTART:20270309T090000Z', 'DURATION:PT2H'];
    expect(await put(to, textOf('long', 'SUMMARY:Long', ...lines))).toBe(201);
    const text = await putBack(to);
    for (const line of lines) expect(text).toContain(`${line}\r\n`);
    expect(text).not.toContain('DUE');
    const { id: taskId } = await only('Long');
    await ann.api.patch(`/tasks/${taskId}`, { due_at: '2027-03-20T10:00:00Z' });
    expect(await putBack(to)).toMatch(/DUE.*:20270320T/);
    expect(await read(to)).not.toContain('DURATION');
    const both = [...lines, 'DUE:20270309T120000Z'];
    expect(await put(to, textOf('long', 'SUMMARY:Long', ...both))).toBe(204);
    expect(await putBack(to)).toContain('DUE:20270309T120000Z\r\n');
    expect(await read(to)).not.toContain('DURATION');
  });

  test.each([
    ['days', ';VALUE=DATE:20270308', ';VALUE=DATE:20270310', ';VALUE=DATE:20270309', ';VALUE=DATE:20270311'],
    ['times', ':20270327T090000Z', ':20270327T100000Z', ':20270328T080000Z', ':20270328T090000Z'],
  ])(
    'the next task of a series keeps its start and alarms: %s',
    async (title, start, due, nextStart, nextDue) => {
      const alarm = [
        'BEGIN:VALARM',
        'ACTION:DISPLAY',
        'TRIGGER;RELATED=START:-PT15M',
        'DESCRIPTION:x',
        'END:VALARM',
        'BEGIN:VALARM',
        'ACTION:AUDIO',
        'TRIGGER;RELATED=START:-PT15M',
        'END:VALARM',
      ];
      const lines = [
        `SUMMARY:${title}`,
        `DTSTART${start}`,
        `DUE${due}`,
        'RRULE:FREQ=DAILY;COUNT=3',
        ...alarm,
      ];
      expect(await put(`${path}${title}.ics`, textOf(title, ...lines))).toBe(201);
      const complete = async (taskId: string) => {
        const { body } = await ann.api.patch(`/tasks/${taskId}`, { done: true });
        return body.task.next_task_id as string;
      };
      const { id: first } = await only(title);
      if (title === 'times') await ann.api.patch(`/tasks/${first}`, { time_zone: 'Europe/Berlin' });
      const second = await complete(first);
      const text = await putBack(`${path}${second}.ics`);
      for (const line of [`DTSTART${nextStart}`, `DUE${nextDue}`, 'RRULE:FREQ=DAILY;COUNT=2', ...alarm])
        expect(text).toContain(`${line}\r\n`);
      expect(text.split('BEGIN:VALARM')).toHaveLength(3);
      expect((await ann.api.get(`/tasks/${second}`)).body.task.reminders).toHaveLength(1);
      const third = await complete(second);
      expect(await putBack(`${path}${third}.ics`)).toContain('RRULE:FREQ=DAILY;COUNT=1\r\n');
      expect((await ann.api.get(`/tasks/${third}`)).body.task.recurrence.rrule).toBe('FREQ=DAILY;COUNT=3');
      expect(await complete(third)).toBeNull();
    },
  );

  test('a rule that only programs follow has a start, or ends with the date', async () => {
    const to = `${path}start.ics`;
    const lines = ['DTSTART:20270310T090000Z', 'DUE:20270310T100000Z', 'RRULE:FREQ=HOURLY'];
    expect(await put(to, textOf('start', 'SUMMARY:Start', ...lines))).toBe(201);
    const { id: taskId } = await only('Start');
    await ann.api.patch(`/tasks/${taskId}`, { due_at: '2027-03-20T10:00:00Z' });
    expect(await putBack(to)).toMatch(/DTSTART.*:20270320T[^]*RRULE|RRULE[^]*DTSTART.*:20270320T/);
    await ann.api.patch(`/tasks/${taskId}`, { date: null });
    expect(await putBack(to)).not.toMatch(/RRULE|DTSTART|DUE/);
  });
});
