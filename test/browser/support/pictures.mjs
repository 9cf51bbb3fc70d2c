// What the pages look like, for people.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * For whoever wants to see the pages: SCREENSHOTS names a directory.
 * @param {import('playwright-core').Page | import('playwright-core').Locator} shown
 */
export async function look(shown, name) {
  if (process.env.SCREENSHOTS)
    await shown.screenshot({ path: path.join(process.env.SCREENSHOTS, `${name}.png`) });
}

/** Tells where the picture is, and what the browser had complained of until then. */
export async function pictureOfFailure(browser) {
  if (!browser) return;
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'workspace-screenshot-')), 'page.png');
  await browser.page.screenshot({ path: file, fullPage: true });
  process.stdout.write(`  the page when it failed: ${file}\n`);
  for (const complaint of browser.complaints) process.stdout.write(`  ${complaint}\n`);
}
