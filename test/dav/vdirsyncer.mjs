import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const SECONDS = 300;

/** Folders that vdirsyncer synchronises with the calendar, the task folder and the address book of the test. */
export class Vdirsyncer {
  constructor(directory, api) {
    this.directory = directory;
    this.api = api;
    this.config = path.join(directory, 'vdirsyncer.conf');
    this.folders = {
      events: path.join(directory, 'calendars', api.calendar),
      tasks: path.join(directory, 'tasks', api.list),
      contacts: path.join(directory, 'addressbooks', api.book),
    };
    for (const folder of Object.values(this.folders)) mkdirSync(folder, { recursive: true });
    const remote = `url = "${api.origin}/"\nusername = "${api.email}"\npassword = "${api.password}"\n`;
    const pair = (name, type, id, extension) => `
[pair ${name}]
a = "${name}_folder"
b = "${name}_server"
collections = ["${id}"]
conflict_resolution = "b wins"
[storage ${name}_folder]
type = "filesystem"
path = "${path.join(directory, name)}"
fileext = "${extension}"
[storage ${name}_server]
type = "${type}"
${remote}`;
    writeFileSync(
      this.config,
      `[general]\nstatus_path = "${path.join(directory, 'status')}"\n${pair('calendars', 'caldav', api.calendar, '.ics')}${pair('tasks', 'caldav', api.list, '.ics')}${pair('addressbooks', 'carddav', api.book, '.vcf')}`,
    );
  }

  run(...args) {
    return execFileSync('vdirsyncer', ['-c', this.config, ...args], {
      encoding: 'utf8',
      input: 'y\n'.repeat(20),
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: SECONDS * 1000,
    });
  }

  async discover() {
    this.run('discover');
  }

  async sync() {
    this.run('sync');
  }

  /** The same, beside other work of this process. */
  async syncLater() {
    await promisify(execFile)('vdirsyncer', ['-c', this.config, 'sync'], { timeout: SECONDS * 1000 });
  }

  /** Fails when a synchronisation transfers anything. */
  async assertQuiet() {
    const { output } = this.trace();
    assert.doesNotMatch(output, /Copying|Deleting/);
  }

  trace() {
    return {
      output: execFileSync('sh', ['-c', `vdirsyncer -c '${this.config}' sync 2>&1`], { encoding: 'utf8' }),
    };
  }

  /** The files of a folder: text by UID. */
  files(kind) {
    const folder = this.folders[kind];
    return new Map(
      readdirSync(folder)
        .filter((name) => /\.(ics|vcf)$/.test(name))
        .map((name) => {
          const text = readFileSync(path.join(folder, name), 'utf8');
          return [/^UID:(.*)$/m.exec(text.replaceAll('\r\n ', ''))?.[1].trim(), { name, text }];
        }),
    );
  }

  /** Fails when folder and server have different items or titles. */
  async assertEqual() {
    const titles = (kind, pattern) =>
      [...this.files(kind)]
        .map(([uid, { text }]) => [uid, pattern.exec(text.replaceAll('\r\n ', ''))?.[1].trim()].join(' '))
        .toSorted();
    const events = [...(await this.api.events())].map(([uid, { title }]) => `${uid} ${title}`).toSorted();
    assert.deepEqual(titles('events', /^SUMMARY:(.*)$/m), events);
    const tasks = [...(await this.api.tasks()).values()].map(({ title }) => title).toSorted();
    assert.deepEqual(
      [...this.files('tasks').values()]
        .map(({ text }) => /^SUMMARY:(.*)$/m.exec(text.replaceAll('\r\n ', ''))?.[1].trim())
        .toSorted(),
      tasks,
    );
    const contacts = [...(await this.api.contacts())]
      .map(([uid, each]) => `${uid} ${each.full_name}`)
      .toSorted();
    assert.deepEqual(titles('contacts', /^FN:(.*)$/m), contacts);
  }
}
