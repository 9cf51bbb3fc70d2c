import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const PUBLIC = path.join(ROOT, 'public');

describe('the files of the example page', () => {
  test('are those that its sources and the client library give: npm run example writes them', async () => {
    const { bundleExample } = await import(path.join(ROOT, 'examples', 'notes-web', 'build.mjs'));
    const files: Record<string, string> = await bundleExample();
    expect(readdirSync(PUBLIC).toSorted()).toEqual(Object.keys(files).toSorted());
    for (const [name, text] of Object.entries(files)) {
      // Not `toBe`: the difference of two bundles takes minutes.
      const isSame = readFileSync(path.join(PUBLIC, name), 'utf8') === text;
      expect([name, isSame]).toEqual([name, true]);
    }
  });

  test('have the licences of the packages in them', () => {
    const script = readFileSync(path.join(PUBLIC, 'notes-web.js'), 'utf8');
    const used = new Set([...script.matchAll(/^\/\/ node_modules\/([^/]+)\//gm)].map(([, name]) => name));
    expect(used.size).toBeGreaterThan(3);
    for (const name of used) expect(script).toContain(`\n * ${name} (`);
  });
});
