import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient } from '../../support/dav/dav-client.ts';

const ICS = { 'content-type': 'text/calendar' };
const VTIMEZONE = [
  'BEGIN:VTIMEZONE',
  'TZID:Europe/Berlin',
  'BEGIN:DAYLIGHT',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'TZNAME:CEST',
  'DTSTART:19700329T020000',
  'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU',
  'END:DAYLIGHT',
  'BEGIN:STANDARD',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  'TZNAME:CET',
  'DTSTART:19701025T030000',
  'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU',
  'END:STANDARD',
  'END:VTIMEZONE',
];
const textOf = (product: string, ...lines: string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', `PRODID:${product}`, ...lines, 'END:VCALENDAR', ''].join('\r\n');
const todo = (uid: string, ...lines: string[]): string[] => [
  'BEGIN:VTODO',
  `UID:${uid}`,
  'DTSTAMP:20270101T000000Z',
  ...lines,
  'END:VTODO',
];
const unfolded = (text: string): string => text.replaceAll('\r\n ', '');

/** Series of tasks with excluded, added and changed dates, as programs write them. */
describe('task series of CalDAV programs', () => {
  let app: TestApp;
  let ann: TestUser;
  let client: DavClient;
  let path: string;
  let id: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    client = await DavClient.of(app, ann);
    const { body } = await ann.api.post('/task_folders', { name: 'Series' });
    id = body.folder.id;
    path = `${client.home('calendars')}${id}/`;
  });
  afterAll(() => app?.stop());

  const put = async (name: string, text: string) =>
    (await client.send('PUT', `${path}${name}.ics`, text, ICS)).status;
  const read = async (name: string) => unfolded((await client.send('GET', `${path}${name}.ics`)).text);
  /** Returns what the program reads, and expects that sending it back changes nothing. */
  const putBack = async (name: string): Promise<string> => {
    const { text, headers } = await client.send('GET', `${path}${name}.ics`);
    expect(await put(name, text)).toBe(204);
    expect(await client.etag(`${path}${name}.ics`)).toBe(headers.get('etag'));
    return unfolded(text);
  };
  const only = async (title: string, status = 'open') =>
    (await ann.api.get(`/tasks?folder_id=${id}&limit=100`)).body.tasks.find(
      (task: any) => task.title === title && task.status === status,
    );
  const complete = async (taskId: string) =>
    (await ann.api.patch(`/tasks/${taskId}`, { done: true })).body.task.next_task_id as string | null;
  const dateOf = async (taskId: string | null) =>
    (await ann.api.get(`/tasks/${taskId ?? ''}`)).body.task.date as string;

  test('Thunderbird completes instances by overrides', async () => {
    const times = (day: string) => [
      `DTSTART;TZID=Europe/Berlin:${day}T090000`,
      `DUE;TZID=Europe/Berlin:${day}T100000`,
    ];
    const done = (day: string) =>
      todo(
        'tb',
        'CREATED:20270301T080000Z',
        'LAST-MODIFIED:20270301T080500Z',
        'SUMMARY:Water the plants',
        'STATUS:COMPLETED',
        `RECURRENCE-ID;TZID=Europe/Berlin:${day}T090000`,
        ...times(day),
        'PERCENT-COMPLETE:100',
        `COMPLETED:${day}T101500Z`,
      );
    const master = [
      'CREATED:20270301T080000Z',
      'SUMMARY:Water the plants',
      'STATUS:NEEDS-ACTION',
      'RRULE:FREQ=DAILY;COUNT=5',
      ...times('20270301'),
      'X-MOZ-GENERATION:2',
    ];
    const withDone = (...days: string[]) =>
      textOf(
        '-//Mozilla.org/NONSGML Mozilla Calendar V1.1//EN',
        ...VTIMEZONE,
        ...todo('tb', ...master),
        ...days.flatMap(done),
      );
    expect(await put('tb', withDone('20270301', '20270302'))).toBe(201);
    const task = await only('Water the plants');
    expect(task).toMatchObject({
      date: '2027-03-03',
      due_at: '2027-03-03T09:00:00.000Z',
      recurrence: { rrule: 'FREQ=DAILY;COUNT=3', from: 'schedule' },
    });
    const text = await putBack('tb');
    for (const line of [...master, ...done('20270302')].filter((each) => !/^(DTSTAMP|BEGIN|END)/.test(each)))
      expect(text).toContain(`${line}\r\n`);
    // The program completes a later instance and the current one.
    expect(await put('tb', withDone('20270301', '20270302', '20270303', '20270304'))).toBe(204);
    expect(await only('Water the plants')).toMatchObject({
      id: task.id,
      date: '2027-03-05',
      recurrence: { rrule: 'FREQ=DAILY;COUNT=1' },
    });
    await putBack('tb');
    expect(await put('tb', withDone('20270301', '20270302', '20270303', '20270304', '20270305'))).toBe(204);
    const closed = await only('Water the plants', 'done');
    expect(closed).toMatchObject({ id: task.id, date: '2027-03-05', next_task_id: null });
    expect(await putBack('tb')).toContain('STATUS:NEEDS-ACTION\r\n');
    // Opened again, the task is the last instance.
    await ann.api.patch(`/tasks/${task.id}`, { done: false });
    const opened = await putBack('tb');
    expect(opened).toContain('RRULE:FREQ=DAILY;COUNT=1\r\n');
    expect(opened).not.toMatch(/RECURRENCE-ID|COMPLETED/);
    expect(await only('Water the plants')).toMatchObject({ date: '2027-03-05' });
  });

  test('Apple Reminders excludes dates', async () => {
    const lines = [
      'CREATED:20270301T080000Z',
      'SUMMARY:Take out the bins',
      'DTSTART;TZID=Europe/Berlin:20270301T190000',
      'DUE;TZID=Europe/Berlin:20270301T190000',
      'RRULE:FREQ=WEEKLY;BYDAY=MO,TH',
      'EXDATE;TZID=Europe/Berlin:20270301T190000',
      'EXDATE;TZID=Europe/Berlin:20270308T190000',
      'STATUS:NEEDS-ACTION',
      'X-APPLE-SORT-ORDER:636192000',
      'BEGIN:VALARM',
      'X-WR-ALARMUID:A',
      'UID:A',
      'TRIGGER;VALUE=DATE-TIME:20270301T180000Z',
      'DESCRIPTION:Event reminder',
      'ACTION:DISPLAY',
      'END:VALARM',
    ];
    expect(
      await put('ios', textOf('-//Apple Inc.//iOS 17.5//EN', ...VTIMEZONE, ...todo('ios', ...lines))),
    ).toBe(201);
    const task = await only('Take out the bins');
    expect(task).toMatchObject({
      date: '2027-03-04',
      due_at: '2027-03-04T18:00:00.000Z',
      recurrence: { rrule: 'FREQ=WEEKLY;BYDAY=MO,TH' },
      // The alarm is written for the first date, which is excluded.
      reminders: [{ at: '2027-03-04T18:00:00.000Z' }],
    });
    const text = await putBack('ios');
    for (const line of lines) expect(text).toContain(`${line}\r\n`);
    const second = await complete(task.id);
    expect(await dateOf(second)).toBe('2027-03-11');
    // The completed occurrence is no series any more, and the dates that have passed are not in the next one.
    const first = await read('ios');
    expect(first).toContain('DUE;TZID=Europe/Berlin:20270304T190000\r\n');
    expect(first.slice(first.indexOf('BEGIN:VTODO'))).not.toMatch(/RRULE|EXDATE/);
    const next = await putBack(second!);
    expect(next).toContain('RRULE:FREQ=WEEKLY;BYDAY=MO,TH\r\n');
    expect(next).toContain('DTSTART;TZID=Europe/Berlin:20270311T190000\r\n');
    expect(next).not.toContain('EXDATE');
    for (const line of lines.slice(-6))
      expect(next).toContain(`${line.replace('20270301T180000Z', '20270311T180000Z')}\r\n`);
    expect((await ann.api.get(`/tasks/${second}`)).body.task.reminders).toEqual([
      { at: '2027-03-11T18:00:00.000Z' },
    ]);
  });

  test('an instance that is moved behind the following one', async () => {
    const text = textOf(
      '-//Late//EN',
      ...todo(
        'late',
        'SUMMARY:Late',
        'DTSTART;VALUE=DATE:20270301',
        'DUE;VALUE=DATE:20270301',
        'RRULE:FREQ=WEEKLY',
      ),
      ...todo('late', 'RECURRENCE-ID;VALUE=DATE:20270301', 'SUMMARY:Late', 'DUE;VALUE=DATE:20270310'),
      ...todo('late', 'RECURRENCE-ID;VALUE=DATE:20270315', 'SUMMARY:Late', 'DUE;VALUE=DATE:20270316'),
    );
    expect(await put('late', text)).toBe(201);
    const task = await only('Late');
    // Programs complete one instance after the other.
    const dates = [task.date];
    for (let next = await complete(task.id); dates.length < 3; next = await complete(next!))
      dates.push(await dateOf(next));
    expect(dates).toEqual(['2027-03-10', '2027-03-08', '2027-03-16']);
  });

  test('Nextcloud Tasks: days, a cancelled and a moved instance', async () => {
    const product = '-//Nextcloud Tasks v0.16.0';
    const master = [
      'CREATED:20270301T080000',
      'LAST-MODIFIED:20270301T080000',
      'SUMMARY:Back up',
      'DTSTART;VALUE=DATE:20270301',
      'DUE;VALUE=DATE:20270302',
      'PERCENT-COMPLETE:0',
      'RRULE:FREQ=WEEKLY;COUNT=6',
      'EXDATE;VALUE=DATE:20270315,20270322',
    ];
    const cancelled = ['RECURRENCE-ID;VALUE=DATE:20270301', 'SUMMARY:Back up', 'STATUS:CANCELLED'];
    const moved = [
      'RECURRENCE-ID;VALUE=DATE:20270329',
      'SUMMARY:Back up',
      'DTSTART;VALUE=DATE:20270330',
      'DUE;VALUE=DATE:20270331',
      'STATUS:NEEDS-ACTION',
    ];
    const text = textOf(
      product,
      ...todo('nc', ...master),
      ...todo('nc', ...cancelled),
      ...todo('nc', ...moved),
    );
    expect(await put('nc', text)).toBe(201);
    const task = await only('Back up');
    expect(task).toMatchObject({
      date: '2027-03-09',
      due_at: null,
      recurrence: { rrule: 'FREQ=WEEKLY;COUNT=5' },
    });
    const found = await putBack('nc');
    for (const line of [...master.slice(2), ...cancelled, ...moved]) expect(found).toContain(`${line}\r\n`);
    const second = await complete(task.id);
    expect(await dateOf(second)).toBe('2027-03-31');
    const next = await putBack(second!);
    for (const line of [
      'DTSTART;VALUE=DATE:20270329',
      'DUE;VALUE=DATE:20270330',
      'RRULE:FREQ=WEEKLY;COUNT=2',
      ...moved,
    ])
      expect(next).toContain(`${line}\r\n`);
    expect(next).not.toMatch(/EXDATE|CANCELLED/);
    expect(next.match(/^UID:.*$/gm)).toEqual([`UID:${second}`, `UID:${second}`]);
    const third = await complete(second!);
    expect(await dateOf(third)).toBe('2027-04-06');
    expect(await putBack(third!)).toContain('RRULE:FREQ=WEEKLY;COUNT=1\r\n');
    expect(await complete(third!)).toBeNull();
  });

  test('tasks.org: a due time without a start, and an added date', async () => {
    const lines = [
      'CREATED:20270301T080000Z',
      'SUMMARY:Read the meter',
      'PRIORITY:9',
      'DUE;TZID=Europe/Berlin:20270305T200000',
      'RRULE:FREQ=MONTHLY;INTERVAL=1',
      'EXDATE;TZID=Europe/Berlin:20270305T200000',
      'RDATE;TZID=Europe/Berlin:20270320T200000',
      'X-APPLE-SORT-ORDER:1',
    ];
    const text = textOf('+//IDN tasks.org//android-130808//EN', ...todo('org', ...lines));
    expect(await put('org', text)).toBe(201);
    const task = await only('Read the meter');
    expect(task).toMatchObject({ date: '2027-03-20', due_at: '2027-03-20T19:00:00.000Z' });
    expect(task.recurrence.rrule).toBe('FREQ=MONTHLY;INTERVAL=1');
    const found = await putBack('org');
    for (const line of lines) expect(found).toContain(`${line}\r\n`);
    const second = await complete(task.id);
    expect(await dateOf(second)).toBe('2027-04-05');
    expect(await putBack(second!)).not.toMatch(/EXDATE|RDATE/);
    expect(await dateOf(await complete(second!))).toBe('2027-05-05');
  });

  test('an edit of the HTTP API: another date, another rule', async () => {
    const lines = [
      'SUMMARY:Stretch',
      'DTSTART;VALUE=DATE:20270301',
      'DUE;VALUE=DATE:20270301',
      'RRULE:FREQ=DAILY;COUNT=9',
      'EXDATE;VALUE=DATE:20270301',
      'EXDATE;VALUE=DATE:20270306',
    ];
    expect(await put('edit', textOf('-//Test//EN', ...todo('edit', ...lines)))).toBe(201);
    const { id: taskId } = await only('Stretch');
    await ann.api.patch(`/tasks/${taskId}`, { title: 'Stretch well', priority: 'high' });
    const titled = await putBack('edit');
    for (const line of lines.slice(1)) expect(titled).toContain(`${line}\r\n`);
    await ann.api.patch(`/tasks/${taskId}`, { date: '2027-03-04' });
    const dated = await putBack('edit');
    for (const line of [
      'DTSTART;VALUE=DATE:20270304',
      'RRULE:FREQ=DAILY;COUNT=8',
      'EXDATE;VALUE=DATE:20270306',
    ])
      expect(dated).toContain(`${line}\r\n`);
    expect(dated).not.toContain('20270301');
    await ann.api.patch(`/tasks/${taskId}`, { recurrence: { rrule: 'FREQ=DAILY;INTERVAL=2' } });
    const ruled = await putBack('edit');
    expect(ruled).toContain('RRULE:FREQ=DAILY;INTERVAL=2\r\n');
    expect(ruled).not.toContain('EXDATE');
    expect(await dateOf(await complete(taskId))).toBe('2027-03-06');
  });

  /** The due times of a task and of those that follow as each one is completed by the API. */
  const completions = async (taskId: string): Promise<string[]> => {
    const found: string[] = [];
    for (let next: string | null = taskId; next !== null && found.length < 9; next = await complete(next)) {
      const { task } = (await ann.api.get(`/tasks/${next}`)).body;
      found.push(task.due_at ?? task.date);
    }
    return found;
  };

  test('two instances on one day, and an added one after the end of the rule', async () => {
    const lines = [
      'SUMMARY:Feed the cat',
      'DUE:20270301T090000Z',
      'RRULE:FREQ=DAILY;COUNT=3',
      'RDATE:20270302T070000Z,20270303T180000Z,20270310T090000Z',
    ];
    expect(await put('twice', textOf('-//Test//EN', ...todo('twice', ...lines)))).toBe(201);
    await putBack('twice');
    const { id: taskId } = await only('Feed the cat');
    expect(await completions(taskId)).toEqual([
      '2027-03-01T09:00:00.000Z',
      '2027-03-02T07:00:00.000Z',
      '2027-03-02T09:00:00.000Z',
      '2027-03-03T09:00:00.000Z',
      '2027-03-03T18:00:00.000Z',
      '2027-03-10T09:00:00.000Z',
    ]);
  });

  test('an added one after the last day of the rule starts a rule with one instance', async () => {
    const lines = [
      'SUMMARY:Dust',
      'DTSTART:20270301T080000Z',
      'DUE:20270301T090000Z',
      'RRULE:FREQ=DAILY;UNTIL=20270302T080000Z',
      'RDATE:20270310T100000Z,20270312T080000Z',
    ];
    expect(await put('dust', textOf('-//Test//EN', ...todo('dust', ...lines)))).toBe(201);
    const second = await complete((await only('Dust')).id);
    expect(await putBack(second!)).toContain('RRULE:FREQ=DAILY;UNTIL=20270302T080000Z\r\n');
    const third = await complete(second!);
    const text = await putBack(third!);
    for (const line of ['DTSTART:20270310T100000Z', 'DUE:20270310T110000Z', 'RRULE:FREQ=DAILY;COUNT=1'])
      expect(text).toContain(`${line}\r\n`);
    expect(text).toContain('20270312T080000Z');
    expect(await completions(third!)).toEqual(['2027-03-10T11:00:00.000Z', '2027-03-12T09:00:00.000Z']);
  });

  test('programs read the same series of such a task', async () => {
    const lines = [
      'SUMMARY:Walk',
      'DUE:20270301T090000Z',
      'RRULE:FREQ=DAILY;COUNT=3',
      'RDATE:20270302T070000Z',
    ];
    expect(await put('walk', textOf('-//Test//EN', ...todo('walk', ...lines)))).toBe(201);
    const second = await complete((await only('Walk')).id);
    const text = await putBack(second!);
    expect(text).toContain('RDATE:20270302T070000Z\r\n');
    expect(text).toContain('RRULE:FREQ=DAILY;COUNT=2\r\n');
    // The program completes the added instance and the one that follows.
    const done = ['20270302T070000Z', '20270302T090000Z'].flatMap((time) =>
      todo(second!, 'SUMMARY:Walk', `RECURRENCE-ID:${time}`, 'STATUS:COMPLETED'),
    );
    const closed = text.replace('END:VCALENDAR\r\n', `${done.join('\r\n')}\r\nEND:VCALENDAR\r\n`);
    expect(await put(second!, closed)).toBe(204);
    expect((await ann.api.get(`/tasks/${second!}`)).body.task).toMatchObject({
      status: 'open',
      due_at: '2027-03-03T09:00:00.000Z',
      recurrence: { rrule: 'FREQ=DAILY;COUNT=1', from: 'schedule' },
    });
    await putBack(second!);
    expect(await complete(second!)).toBeNull();
  });

  test('a request that completes a task and sets another rule leaves the dates of the former one', async () => {
    const lines = [
      'SUMMARY:Sweep',
      'DUE;VALUE=DATE:20270301',
      'RRULE:FREQ=DAILY',
      'EXDATE;VALUE=DATE:20270303',
    ];
    expect(await put('sweep', textOf('-//Test//EN', ...todo('sweep', ...lines)))).toBe(201);
    const { id: taskId } = await only('Sweep');
    const patch = { done: true, recurrence: { rrule: 'FREQ=DAILY;INTERVAL=2' } };
    const second = (await ann.api.patch(`/tasks/${taskId}`, patch)).body.task.next_task_id;
    expect(await dateOf(second)).toBe('2027-03-03');
    expect(await read(second)).not.toContain('EXDATE');
  });

  test('an instance that was completed ahead stays completed when the API sets another date', async () => {
    const times = (day: string) => [`DTSTART:202703${day}T080000Z`, `DUE:202703${day}T090000Z`];
    const of = (day: string, ...more: string[]) =>
      todo('ahead', 'SUMMARY:Dust', `RECURRENCE-ID:202703${day}T080000Z`, ...more);
    const text = textOf(
      '-//Test//EN',
      ...todo('ahead', 'SUMMARY:Dust', ...times('01'), 'RRULE:FREQ=DAILY'),
      ...of('02', 'STATUS:COMPLETED', ...times('02')),
      ...of('05', 'STATUS:COMPLETED', ...times('05')),
      ...of('06', ...times('07')),
    );
    expect(await put('ahead', text)).toBe(201);
    const { id: taskId } = await only('Dust');
    expect(await dateOf(taskId)).toBe('2027-03-01');
    await ann.api.patch(`/tasks/${taskId}`, { date: '2027-03-03' });
    const dated = await putBack('ahead');
    for (const line of times('03')) expect(dated).toContain(`${line}\r\n`);
    expect(dated.match(/RECURRENCE-ID\S+/g)).toEqual([
      'RECURRENCE-ID:20270305T080000Z',
      'RECURRENCE-ID:20270306T080000Z',
    ]);
    // Also after the program has written the task.
    expect(await put('ahead', dated.replaceAll('SUMMARY:Dust', 'SUMMARY:Dust well'))).toBe(204);
    expect((await completions(taskId)).slice(0, 4)).toEqual([
      '2027-03-03T09:00:00.000Z',
      '2027-03-04T09:00:00.000Z',
      '2027-03-07T09:00:00.000Z',
      '2027-03-07T09:00:00.000Z',
    ]);
  });

  test('each property of a task occurs once, also after a second round trip', async () => {
    const lines = ['CREATED:20270101T000000Z', 'SUMMARY:Count', 'STATUS:NEEDS-ACTION'];
    expect(await put('once', textOf('-//Test//EN', ...todo('once', ...lines)))).toBe(201);
    for (let n = 0; n < 2; n += 1) {
      const text = await read('once');
      const [, own = ''] = text.split('BEGIN:VTODO\r\n');
      const names = own.split('\r\n').map((line) => line.split(/[:;]/)[0]);
      expect(names.filter((name, at) => name && !/END/.test(name) && names.indexOf(name) !== at)).toEqual([]);
      expect(text).toContain('CREATED:20270101T000000Z\r\n');
      expect(await put('once', text)).toBe(204);
    }
  });

  test('a new hour of the API moves the excluded and the completed dates', async () => {
    const lines = ['SUMMARY:Swim', 'DUE:20270303T080000Z', 'RRULE:FREQ=DAILY', 'EXDATE:20270305T080000Z'];
    const done = ['SUMMARY:Swim', 'RECURRENCE-ID:20270306T080000Z', 'STATUS:COMPLETED'];
    const text = textOf('-//Test//EN', ...todo('swim', ...lines), ...todo('swim', ...done));
    expect(await put('swim', text)).toBe(201);
    const { id: taskId } = await only('Swim');
    await ann.api.patch(`/tasks/${taskId}`, { due_at: '2027-03-03T10:00:00Z' });
    const shown = await putBack('swim');
    for (const line of ['DUE:20270303T100000Z', 'EXDATE:20270305T100000Z', 'RECURRENCE-ID:20270306T100000Z'])
      expect(shown).toContain(`${line}\r\n`);
    expect((await completions(taskId)).slice(0, 3)).toEqual([
      '2027-03-03T10:00:00.000Z',
      '2027-03-04T10:00:00.000Z',
      '2027-03-07T10:00:00.000Z',
    ]);
  });

  test('an excluded date of a series in UTC stays excluded when the clocks of the task change', async () => {
    const lines = [
      'SUMMARY:Knit',
      'DUE:20270326T090000Z',
      'RRULE:FREQ=DAILY',
      'EXDATE:20270329T090000Z,never,20270331T090000Z',
    ];
    const local = ['SUMMARY:Knit', 'DUE;TZID=Europe/Berlin:20270326T100000'];
    expect(await put('knit', textOf('-//Test//EN', ...VTIMEZONE, ...todo('knit', ...local)))).toBe(201);
    expect(await put('knit', textOf('-//Test//EN', ...todo('knit', ...lines)))).toBe(204);
    const { id: taskId } = await only('Knit');
    expect((await ann.api.get(`/tasks/${taskId}`)).body.task.time_zone).toBe('Europe/Berlin');
    expect((await completions(taskId)).slice(0, 5)).toEqual([
      '2027-03-26T09:00:00.000Z',
      '2027-03-27T09:00:00.000Z',
      '2027-03-28T08:00:00.000Z',
      '2027-03-30T08:00:00.000Z',
      '2027-04-01T08:00:00.000Z',
    ]);
  });

  test('an excluded date stays excluded in a new time zone, whose clocks do not change', async () => {
    const lines = [
      'SUMMARY:Sew',
      'DUE;TZID=Europe/Berlin:20270326T100000',
      'RRULE:FREQ=DAILY',
      'EXDATE;TZID=Europe/Berlin:20270329T100000',
    ];
    expect(await put('sew', textOf('-//Test//EN', ...VTIMEZONE, ...todo('sew', ...lines)))).toBe(201);
    const { id: taskId } = await only('Sew');
    await ann.api.patch(`/tasks/${taskId}`, { time_zone: 'Asia/Tokyo' });
    const shown = await putBack('sew');
    for (const line of ['DUE;TZID=Asia/Tokyo:20270326T180000', 'EXDATE;TZID=Asia/Tokyo:20270329T180000'])
      expect(shown).toContain(`${line}\r\n`);
    expect((await completions(taskId)).slice(0, 4)).toEqual([
      '2027-03-26T09:00:00.000Z',
      '2027-03-27T09:00:00.000Z',
      '2027-03-28T09:00:00.000Z',
      '2027-03-30T09:00:00.000Z',
    ]);
  });

  test('after a move to another weekday, programs read no changed instances of the former one', async () => {
    const lines = ['SUMMARY:Paint', 'DUE:20270301T080000Z', 'RRULE:FREQ=WEEKLY'];
    const changed = ['SUMMARY:Paint blue', 'RECURRENCE-ID:20270308T080000Z'];
    const text = textOf('-//Test//EN', ...todo('paint', ...lines), ...todo('paint', ...changed));
    expect(await put('paint', text)).toBe(201);
    const { id: taskId } = await only('Paint');
    await ann.api.patch(`/tasks/${taskId}`, { date: '2027-03-03' });
    const shown = await read('paint');
    expect(shown).toContain('DUE:20270303T080000Z\r\n');
    expect(shown).not.toContain('RECURRENCE-ID');
  });

  test('after a move, another changed instance of the same day stays', async () => {
    const lines = ['SUMMARY:Sing', 'DUE:20270301T080000Z', 'RRULE:FREQ=DAILY', 'RDATE:20270302T150000Z'];
    const of = (time: string) => todo('sing', 'SUMMARY:Sing', `RECURRENCE-ID:${time}`, 'STATUS:COMPLETED');
    const text = textOf(
      '-//Test//EN',
      ...todo('sing', ...lines, 'EXDATE:20270301T080000Z'),
      ...of('20270302T150000Z'),
    );
    expect(await put('sing', text)).toBe(201);
    const { id: taskId } = await only('Sing');
    expect(await dateOf(taskId)).toBe('2027-03-02');
    await ann.api.patch(`/tasks/${taskId}`, { date: '2027-03-01' });
    expect(await read('sing')).toContain('RECURRENCE-ID:20270302T150000Z\r\n');
  });
});
