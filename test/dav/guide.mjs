import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const GUIDE = readFileSync(path.resolve(import.meta.dirname, '../../docs/native-clients.md'), 'utf8');
const EXAMPLE = GUIDE.slice(GUIDE.indexOf('## Example: '), GUIDE.indexOf('## Limits'));
const BLOCKS = [...EXAMPLE.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language, text]) => ({
  language,
  text,
}));

/** The example of docs/native-clients.md, as a reader copies it, in a home directory of its own. */
export async function guide(check, directory, api) {
  const home = path.join(directory, 'home');
  mkdirSync(home);
  const filled = (text) =>
    text
      .replaceAll('https://workspace.example.com', api.origin)
      .replaceAll('alice@example.com', api.email)
      .replaceAll('<application password>', api.password)
      .replaceAll('<id of the address book>', api.book)
      .replaceAll('<id of the task folder>', api.list);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'Europe/Berlin',
    TOKEN: api.token,
  };
  const run = (script, input = '', more = {}) =>
    execFileSync('bash', ['-ec', script], {
      encoding: 'utf8',
      env: { ...env, ...more },
      cwd: home,
      input,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: 300_000,
    });
  const [fill, walk] = BLOCKS.filter(({ language }) => language === 'sh').map(({ text }) => filled(text));

  await check('the guide: its configurations fill the folders, with the names of the collections', () => {
    for (const { text } of BLOCKS) {
      const file = /^# ~\/(\S+)\n/.exec(text)?.[1];
      if (!file) continue;
      mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
      writeFileSync(path.join(home, file), filled(text));
    }
    run(fill);
    assert.equal(
      readFileSync(path.join(home, 'contacts', api.book, 'displayname'), 'utf8').trim(),
      'Programs',
    );
    assert.match(run('khal printcalendars'), /^Programs$/m);
  });
  await check('the guide: an event made with curl is in khal, and a change in khal is in the API', () => {
    const output = run(walk, 's\nOffsite in the hills\nq\n');
    assert.match(output, /11:00-12:00 Offsite$/m);
    assert.match(output, /"title":"Offsite in the hills"/);
  });
  await check(
    'the guide: a contact made with curl is in khard, and a change in khard is in the API',
    async () => {
      const input = {
        full_name: 'Zoe Quarry',
        emails: [{ value: 'zoe@example.com', types: ['work'] }],
        categories: ['vip'],
      };
      await api.call('POST', `/contact/addressbooks/${api.book}/contacts`, input);
      const editor = path.join(home, 'editor.sh');
      writeFileSync(editor, `#!/bin/sh\nsed -i 's/^Organisation *:.*/Organisation : Harbour/' "$1"\n`, {
        mode: 0o755,
      });
      run('vdirsyncer sync && khard edit zoe && vdirsyncer sync', '', { EDITOR: editor });
      const changed = [...(await api.contacts()).values()].find(
        ({ full_name: name }) => name === 'Zoe Quarry',
      );
      assert.deepEqual(
        [changed.organization.name, changed.emails[0].value, changed.emails[0].types, changed.categories],
        ['Harbour', 'zoe@example.com', ['work'], ['vip']],
      );
    },
  );
  await check(
    'the guide: a task made with curl is in todoman, and a change in todoman is in the API',
    async () => {
      const { task } = await api.call('POST', '/tasks', { title: 'Book the rooms', folder_id: api.list });
      run('vdirsyncer sync');
      const shown = JSON.parse(run('todoman --porcelain list')).find(
        ({ summary }) => summary === 'Book the rooms',
      );
      run(`todoman edit --priority high ${shown.id} && vdirsyncer sync`);
      assert.equal((await api.tasks()).get(task.id).priority, 'high');
    },
  );
}
