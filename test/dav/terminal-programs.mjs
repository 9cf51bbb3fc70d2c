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
