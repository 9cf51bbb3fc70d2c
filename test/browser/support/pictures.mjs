// Screenshots of the pages.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Saves a screenshot in the directory that SCREENSHOTS names.
 * @param {import('playwright-core').Page | import('playwright-core').Locator} shown
 */
export async function look(shown, name) {
  if (process.env.SCREENSHOTS)
    await shown.screenshot({ path: path.join(process.env.SCREENSHOTS, `${name}.png`) });
}

/** Saves a screenshot and prints its path and the complaints of the browser. */
export async function pictureOfFailure(browser) {
  if (!browser) return;
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'workspace-screenshot-')), 'page.png');
  await browser.page.screenshot({ path: file, fullPage: true });
  process.stdout.write(`  the page when it failed: ${file}\n`);
  for (const complaint of browser.complaints) process.stdout.write(`  ${complaint}\n`);
}
