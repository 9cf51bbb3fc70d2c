// Chromium with an empty profile, and a record of errors and forbidden requests of the page.
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The page has to work without a network, so this browser has none.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];
const STEP_MS = 60_000;

/**
 * Opens a page of a new browser.
 * @param {string} origin the only one the page may call
 * @returns {Promise<{ page: import('playwright-core').Page, complaints: string[], close: () => Promise<void> }>}
 *   `complaints`: errors on the console, uncaught exceptions, failed requests, calls of other hosts, breaches of the
 *   Content-Security-Policy
 */
export async function openBrowser(origin) {
  const profile = mkdtempSync(path.join(tmpdir(), 'workspace-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findChromium(),
    headless: true,
    chromiumSandbox: process.getuid?.() !== 0,
    args: FLAGS,
    viewport: { width: 1280, height: 1400 },
  });
  context.setDefaultTimeout(STEP_MS);
  const page = context.pages()[0] ?? (await context.newPage());
  const complaints = [];
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`Content-Security-Policy: ${event.violatedDirective} forbids ${event.blockedURI}`);
    });
  });
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol))
      complaints.push(`call of another host: ${request.url()}`);
  });
  context.on('requestfailed', (request) => {
    // The browser cancels a script that a page loads while it already navigates.
    if (request.resourceType() === 'script' && request.failure()?.errorText === 'net::ERR_ABORTED') return;
    complaints.push(`failed request: ${request.url()} (${request.failure()?.errorText})`);
  });
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => complaints.push(`uncaught: ${error.error().message}`));
  return {
    page,
    complaints,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** @throws when the PATH has no browser */
function findChromium() {
  const directories = (process.env.PATH ?? '').split(path.delimiter);
  const files = NAMES.flatMap((name) => directories.map((directory) => path.join(directory, name)));
  const found = files.find(isExecutable);
  if (found === undefined)
    throw new Error(
      'Chromium is needed for this test: run `bash .ci/ensure-chromium`, which installs it on Debian.',
    );
  return found;
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
