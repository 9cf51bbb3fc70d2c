import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { jest } from '@jest/globals';
import { closedPage, writeDocx } from '../../../src/lib/docx/writer.js';
import { LibreOfficeDocx, MissingProgramError } from '../../../src/platform/docx/libreoffice-docx.js';
import { EmbeddedDocx } from '../../../src/platform/docx/docx-converter.js';
import { fakeOnly } from '../../support/clock.ts';
import { until } from '../../support/until.ts';
import { readDocx, source, textOf } from './read-docx.ts';

const LIMITS = { workers: 1, queue: 1, timeoutMs: 20_000, memoryMb: 256 };
const LARGE = source('<p>some <b>text</b> to write</p>'.repeat(15_000));

describe('the embedded engine', () => {
  const engines: EmbeddedDocx[] = [];
  const engine = (limits: Partial<typeof LIMITS> = {}): EmbeddedDocx => {
    const made = new EmbeddedDocx({ ...LIMITS, ...limits });
    engines.push(made);
    return made;
  };
  afterAll(() => Promise.all(engines.map((each) => each.close())));

  it('returns the document of the writer', async () => {
    const note = source('<p>x</p>', { title: 'T' });
    expect(Buffer.from(await engine().convert(note)).equals(writeDocx(note))).toBe(true);
  });

  it('neither blocks the event loop nor changes its priority', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const before = getPriority();
    await engine().convert(LARGE);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(20);
    expect(getPriority()).toBe(before);
  });

  it('rejects a conversion beyond the limits of time and memory, and converts the next one', async () => {
    await expect(engine({ timeoutMs: 10 }).convert(LARGE)).rejects.toMatchObject({ limit: 'time' });
    const small = engine({ memoryMb: 16 });
    await expect(small.convert(LARGE)).rejects.toMatchObject({ limit: 'memory' });
    expect(textOf(readDocx(await small.convert(source('next'))).body)).toBe('next');
  });

  it('rejects a document that it cannot write, and converts the next one', async () => {
    const one = engine();
    await expect(one.convert(source('<div>'.repeat(300)))).rejects.toThrow('too_deep');
    expect(textOf(readDocx(await one.convert(source('next'))).body)).toBe('next');
  });

  it('does not keep an idle process alive', () => {
    const module = new URL('../../../dist/platform/docx/docx-converter.js', import.meta.url).href;
    const script = `
      import { EmbeddedDocx } from '${module}';
      const bytes = await new EmbeddedDocx(${JSON.stringify(LIMITS)}).convert(${JSON.stringify(source('x'))});
      process.stdout.write(String(bytes.length > 0));`;
    const args = ['--input-type=module', '--eval', script];
    expect(execFileSync(process.execPath, args, { timeout: 30_000 }).toString()).toBe('true');
  });

  it('cancels a conversion without waiting requests', async () => {
    const one = engine({ queue: 1 });
    const leaving = new AbortController();
    const running = one.convert(LARGE, leaving.signal);
    const next = one.convert(source('next'));
    await expect(one.convert(source('third'))).rejects.toThrow('the queue is full');
    leaving.abort(new Error('left'));
    await expect(running).rejects.toThrow('left');
    expect(textOf(readDocx(await next).body)).toBe('next');
  });
});

describe('the page for LibreOffice', () => {
  const SECRET = /x\.test\/(?!link)|file:|passwd|cid:|<script/;

  it('has no references except data URLs and links', () => {
    const page = closedPage(
      source(
        '<p style="background: url(https://x.test/a)">a<img src="https://x.test/b" alt="pic"><img src="file:///etc/passwd"><img src="/c"><img src="cid:1">' +
          '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><a href="file:///etc/passwd">f</a><a href="https://x.test/link">l</a>' +
          '<blockquote cite="https://x.test/q">q</blockquote><link rel=stylesheet href="https://x.test/s"><iframe src="https://x.test/i"></iframe>' +
          '<table background="https://x.test/t"><tr><td background="https://x.test/u">t</table><script src="https://x.test/j"></script>',
        { title: '</title><img src="https://x.test/t">', author: '"><script>' },
      ),
    );
    const tags = page.match(/<[^>]*>/g)!.join('');
    expect(tags).not.toMatch(SECRET);
    expect(page).toContain('pic');
    expect(page).toContain('data:image/gif');
    expect(page).toContain('https://x.test/link');
  });
});

describe('the LibreOffice engine', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'fake-office-'));
  const engines: LibreOfficeDocx[] = [];
  afterAll(async () => {
    await Promise.all(engines.map((each) => each.close()));
    rmSync(directory, { recursive: true, force: true });
  });

  /** A program in the place of LibreOffice; `$out` is the path of the result, `$in` that of the page. */
  function office(script: string, limits: Partial<typeof LIMITS> = {}): LibreOfficeDocx {
    const program = path.join(directory, `office-${engines.length}`);
    writeFileSync(
      program,
      `#!/bin/sh\nwhile [ $# -gt 1 ]; do [ "$1" = --outdir ] && out="$2/note.docx"; shift; done\nin="$1"\nlog=${program}.log\n${script}\n`,
    );
    chmodSync(program, 0o755);
    const made = new LibreOfficeDocx(program, { ...LIMITS, ...limits });
    engines.push(made);
    return made;
  }
  const log = (): string => path.join(directory, `office-${engines.length - 1}.log`);
  const lines = (): string[] =>
    existsSync(log()) ? readFileSync(log(), 'utf8').split('\n').filter(Boolean) : [];
  /** Runs `work` with another directory for temporary files. */
  const withTemporary = async (other: string, work: () => Promise<unknown>): Promise<void> => {
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = other;
    try {
      await work();
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  };
  const alive = (pid: string): boolean => {
    try {
      process.kill(Number(pid), 0);
      return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  };

  it('passes a page to the program, returns its document and leaves no file', async () => {
    const one = office('cat "$in" > "$out"; pwd > "$log"; env | cut -d= -f1 | sort | tr "\\n" " " >> "$log"');
    const made = Buffer.from(await one.convert(source('<p>text</p>', { title: 'T & U' }))).toString();
    expect(made).toContain('<title>T &amp; U</title>');
    expect(made).toContain('<p>text</p>');
    const [cwd, names] = lines();
    expect(existsSync(cwd!)).toBe(false);
    expect(
      names!.split(' ').filter((name) => !/^(?:PATH|HOME|TMPDIR|LANG|PWD|OLDPWD|SHLVL|_)?$/.test(name)),
    ).toEqual([]);
    await one.close();
    expect(existsSync(path.dirname(cwd!))).toBe(false);
  });

  it('converts again after its directory could not be created', async () => {
    const one = office('cat "$in" > "$out"');
    await withTemporary(path.join(directory, 'missing'), () =>
      expect(one.convert(source('x'))).rejects.toMatchObject({ code: 'ENOENT' }),
    );
    expect((await one.convert(source('x'))).length).toBeGreaterThan(0);
  });

  it('reports a missing program', async () => {
    const none = new LibreOfficeDocx('no-such-office-program', LIMITS);
    engines.push(none);
    await expect(none.convert(source('x'))).rejects.toBeInstanceOf(MissingProgramError);
  });

  it.each([
    ['ends with an error', 'exit 3', 'exited with 3'],
    ['is killed', 'kill -9 $$', 'exited with a signal'],
    ['makes nothing', 'exit 0', 'ENOENT'],
  ])('fails when the program %s', async (_, script, message) => {
    await expect(office(script).convert(source('x'))).rejects.toThrow(message);
  });

  it('kills the program and its child processes after the time limit', async () => {
    // The preparation of the page has the same limit: time passes once the program runs.
    fakeOnly(['setTimeout', 'clearTimeout']);
    try {
      const slow = office('sleep 60 & echo $! > "$log"; echo $$ >> "$log"; wait').convert(source('x'));
      slow.catch(() => undefined);
      const pids = await until('both processes to run', () => lines().length === 2 && lines());
      jest.advanceTimersByTime(LIMITS.timeoutMs);
      await expect(slow).rejects.toThrow('timed out');
      await until('the processes to end', () => pids.every((pid) => !alive(pid)));
    } finally {
      jest.useRealTimers();
    }
  });

  it('kills the program when no request waits for it, and converts the next document', async () => {
    const one = office('if [ ! -e "$log" ]; then echo $$ > "$log"; sleep 60; fi; echo next > "$out"');
    const leaving = new AbortController();
    const first = one.convert(source('x'), leaving.signal);
    const pid = await until('the program to run', () => lines()[0]);
    const second = one.convert(source('y'));
    await expect(one.convert(source('z'))).rejects.toThrow('the queue is full');
    leaving.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
    await until('the process to be gone', () => !alive(pid));
    expect(Buffer.from(await second).toString()).toBe('next\n');
  });

  it('kills the program when the service stops, and removes its files', async () => {
    const own = mkdtempSync(path.join(directory, 'temporary-'));
    const one = office('echo $$ > "$log"; sleep 60');
    await withTemporary(own, async () => {
      const running = one.convert(source('x'));
      running.catch(() => undefined);
      const pid = await until('the program to run', () => lines()[0]);
      expect(readdirSync(own)).toEqual([expect.stringMatching(/^docx-/)]);
      await one.close();
      await expect(running).rejects.toThrow('closed');
      expect(alive(pid)).toBe(false);
    });
    expect(readdirSync(own)).toEqual([]);
    await expect(one.convert(source('x'))).rejects.toThrow('closed');
  });
});
