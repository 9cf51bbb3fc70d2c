// The mails of the service as pictures: each template in each language, on a phone and on a wide screen.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openBrowser } from './support/browser.mjs';
import { look, pictureOfFailure } from './support/pictures.mjs';

const DIST = new URL('../../dist/', import.meta.url);
const WIDTHS = [320, 900];
const SILENT = { DATABASE_URL: '', LOG_LEVEL: 'silent', DEMO: 'false' };

let browser;

/** @returns the previews of all registered templates, as HTML */
async function previews() {
  const load = (file) => import(new URL(file, DIST).href);
  const [{ withApp }, { Config }, { SystemMail }, { htmlOf }, { LANGUAGES }] = await Promise.all(
    [
      'cli/context.js',
      'config/config.js',
      'platform/system-mail/system-mail.js',
      'platform/system-mail/mail-message.js',
      'platform/languages/languages.js',
    ].map(load),
  );
  const dataDir = mkdtempSync(path.join(tmpdir(), 'workspace-mails-'));
  try {
    return await withApp(Config.parse({ ...SILENT, DATA_DIR: dataDir }), async (app) =>
      LANGUAGES.flatMap((language) =>
        app.get(SystemMail, { strict: false }).registered.flatMap((template) =>
          Object.entries(template.previews(language)).map(([name, content]) => ({
            name: `${template.name} ${name} ${language}`,
            content,
            html: htmlOf(content, language),
          })),
        ),
      ),
    );
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Shows one mail and checks its layout. */
async function show({ name, content, html }, width) {
  const { page } = browser;
  await page.setViewportSize({ width, height: 800 });
  await page.setContent(html);
  const shown = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    client: document.documentElement.clientWidth,
    text: document.body.innerText,
    smallest: Math.min(
      ...[...document.querySelectorAll('p, td, th, a')].map((part) =>
        Number.parseFloat(getComputedStyle(part).fontSize),
      ),
    ),
  }));
  const about = `${name} at ${width}`;
  assert.ok(shown.scroll <= shown.client, `${about}: the content is wider than the screen`);
  assert.ok(shown.smallest >= 13, `${about}: a text has ${shown.smallest} px`);
  const texts = [content.title ?? content.subject, ...content.paragraphs, ...(content.closing ?? [])];
  for (const text of texts) for (const line of text.split('\n')) assert.ok(shown.text.includes(line), about);
  if (content.action) {
    const box = await page.getByRole('link', { name: content.action.label }).boundingBox();
    assert.ok(box && box.height >= 20, `${about}: the button is too small`);
  }
  await look(page, `mail ${name} ${width}`);
}

export const mails = {
  steps: {
    'each mail fits a phone and a wide screen in each language': async () => {
      const all = await previews();
      assert.ok(all.length >= 40, `${all.length} previews`);
      browser = await openBrowser('http://localhost');
      for (const preview of all) for (const width of WIDTHS) await show(preview, width);
      assert.deepEqual(browser.complaints, []);
    },
  },
  failed: () => pictureOfFailure(browser),
  end: async () => browser?.close(),
};
