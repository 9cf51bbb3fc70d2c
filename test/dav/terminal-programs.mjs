import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** khal and khard on the folders of vdirsyncer. */
export async function khalAndKhard(check, api, programs) {
  const { directory, folders } = programs;
  const khal = path.join(directory, 'khal.conf');
  writeFileSync(
    khal,
    `[calendars]\n[[programs]]\npath = ${folders.events}\n[sqlite]\npath = ${path.join(directory, 'khal.db')}\n[locale]\nlocal_timezone = Europe/Berlin\ndefault_timezone = Europe/Berlin\ntimeformat = %H:%M\ndateformat = %Y-%m-%d\nlongdateformat = %Y-%m-%d\ndatetimeformat = %Y-%m-%d %H:%M\nlongdatetimeformat = %Y-%m-%d %H:%M\n[default]\ndefault_calendar = programs\n`,
  );
  const khard = path.join(directory, 'khard.conf');
  writeFileSync(
    khard,
    `[addressbooks]\n[[programs]]\npath = ${folders.contacts}\n[general]\ndefault_action = list\neditor = true\nmerge_editor = true\n`,
  );
  const env = { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CACHE_HOME: directory };
  const run = (program, ...args) =>
    execFileSync(program, ['-c', program === 'khal' ? khal : khard, ...args], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  await check('khal shows an event that the HTTP API made, and the API one that khal made', async () => {
    await api.call('POST', `/calendar/${api.calendar}/events`, {
      title: 'Made with curl',
      start: { date_time: '2027-06-01T09:00:00', time_zone: 'Europe/Berlin' },
      end: { date_time: '2027-06-01T10:00:00', time_zone: 'Europe/Berlin' },
    });
    await programs.sync();
    assert.match(run('khal', 'list', '2027-06-01', '2027-06-02'), /09:00-10:00 Made with curl/);
    run('khal', 'new', '-a', 'programs', '2027-06-03', '11:00', '12:00', 'Made with khal');
    await programs.sync();
    const made = [...(await api.events()).values()].find(({ title }) => title === 'Made with khal');
    assert.equal(made.start.date_time.slice(0, 16), '2027-06-03T11:00');
  });
  await check('khard shows a contact that the HTTP API made', async () => {
    await api.call('POST', `/contact/addressbooks/${api.book}/contacts`, {
      full_name: 'Maria Silva',
      emails: [{ value: 'maria.silva@example.com' }],
    });
    await programs.sync();
    assert.match(
      run('khard', 'email', '--parsable', 'maria.silva'),
      /maria\.silva@example\.com\tMaria Silva/,
    );
  });
}

/** todoman on the folder of tasks. */
export async function todoman(check, api, programs) {
  const { directory, folders } = programs;
  const config = path.join(directory, 'todoman.py');
  writeFileSync(
    config,
    `path = "${path.dirname(folders.tasks)}/*"\ncache_path = "${path.join(directory, 'todoman.db')}"\ndate_format = "%Y-%m-%d"\ntime_format = "%H:%M"\ndefault_list = "${path.basename(folders.tasks)}"\n`,
  );
  const env = {
    ...process.env,
    HOME: directory,
    XDG_DATA_HOME: directory,
    XDG_CACHE_HOME: directory,
    TZ: 'Europe/Berlin',
  };
  const run = (...args) =>
    execFileSync('todoman', ['--config', config, ...args], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const titled = async (title) => [...(await api.tasks()).values()].find((task) => task.title === title);

  await check('todoman shows a task that the HTTP API made, completes it, and makes one', async () => {
    await api.call('POST', '/tasks', {
      title: 'Made with curl',
      folder_id: api.list,
      due_at: '2027-06-01T09:00:00Z',
      time_zone: 'Europe/Berlin',
      priority: 'high',
      labels: ['offsite'],
      reminders: [{ minutes_before: 30 }],
    });
    await programs.sync();
    const shown = JSON.parse(run('--porcelain', 'list')).find(({ summary }) => summary === 'Made with curl');
    assert.equal(shown.due, Date.parse('2027-06-01T09:00:00Z') / 1000);
    run('done', String(shown.id));
    run('new', '--due', '2027-06-03 11:00', '--priority', 'low', 'Made with todoman');
    await programs.sync();
    const done = await titled('Made with curl');
    // Without its labels: todoman 4.1.0 writes a task that it changes without CATEGORIES (docs/native-clients.md).
    assert.deepEqual(
      [done.status, done.priority, done.reminders],
      ['done', 'high', [{ minutes_before: 30 }]],
    );
    const made = await titled('Made with todoman');
    assert.deepEqual([made.due_at, made.priority], ['2027-06-03T09:00:00.000Z', 'low']);
    await programs.sync();
    await programs.assertQuiet();
  });
}
