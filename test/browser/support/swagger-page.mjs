// The actions of a user on the page of Swagger UI.
import { readFile } from 'node:fs/promises';

export class SwaggerPage {
  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.page = page;
  }

  /**
   * The operations on the page, by their ids. The page holds those near the visible part only: it is scrolled through until
   * it has shown `count` of them, for a minute at most.
   */
  async operationIds(count) {
    await this.page.locator('.opblock').first().waitFor();
    const found = new Set();
    const end = Date.now() + 60_000;
    for (let top = 0; found.size < count && Date.now() < end; top += 600) {
      const height = await this.page.evaluate((y) => {
        window.scrollTo(0, y);
        return document.documentElement.scrollHeight;
      }, top);
      if (top > height) top = -600;
      await this.page.waitForTimeout(100);
      const ids = await this.page.locator('.opblock').evaluateAll((blocks) => blocks.map(({ id }) => id));
      // operations-<tag>-<operation id>
      for (const id of ids) found.add(id.split('-').at(-1));
    }
    await this.page.evaluate(() => window.scrollTo(0, 0));
    return [...found];
  }

  /** Hides the operations whose tag does not contain the text. */
  async filter(text) {
    await this.page.locator('input.operation-filter-input').fill(text);
  }

  async isAuthorised() {
    const button = this.page.locator('.btn.authorize');
    await button.waitFor();
    return button.evaluate(({ classList }) => classList.contains('locked'));
  }

  /** Pastes a token. */
  async authorise(token) {
    const dialog = await this.#dialog();
    const bearer = dialog.locator('.auth-container').filter({ hasText: 'bearer (http' });
    await bearer.locator('input').fill(token);
    await bearer.getByRole('button', { name: 'Apply credentials' }).click();
    await this.#close(dialog);
  }

  /** Removes the token from the page; the session of the sign-in page stays. */
  async unauthorise() {
    const dialog = await this.#dialog();
    for (const button of await dialog.getByRole('button', { name: 'Remove authorization' }).all())
      await button.click();
    await this.#close(dialog);
  }

  /**
   * Signs in by the sign-in page.
   * @param {(popup: import('playwright-core').Page) => Promise<void>} fillIn fills in the page
   * @returns {Promise<Record<string, string>>} the new tokens
   */
  async signIn(fillIn) {
    const dialog = await this.#dialog();
    const container = dialog.locator('.auth-container').filter({ hasText: 'OAuth2, authorizationCode' });
    const tokens = this.page.waitForResponse((response) => response.url().endsWith('/oidc/token'));
    // A failure of the page is the error to report, not the missing response.
    tokens.catch(() => undefined);
    const opened = this.page.waitForEvent('popup');
    await container.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
    const popup = await opened;
    const closed = popup.waitForEvent('close');
    closed.catch(() => undefined);
    await fillIn(popup);
    await closed;
    const response = await (await tokens).json();
    await container.getByRole('button', { name: 'Remove authorization' }).waitFor();
    await this.#close(dialog);
    return response;
  }

  async #dialog() {
    await this.page.locator('.btn.authorize').click();
    return this.page.locator('.dialog-ux');
  }

  async #close(dialog) {
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });
  }

  /** The block of an operation. */
  operation(tag, operationId) {
    return this.page.locator(`#operations-${tag}-${operationId}`);
  }

  /** Scrolls until the page renders the operation: it renders those near the visible part only. */
  async reveal(block) {
    const end = Date.now() + 60_000;
    for (let top = 0; (await block.count()) === 0; top += 600) {
      if (Date.now() > end) throw new Error('the operation is not on the page');
      const height = await this.page.evaluate((y) => {
        window.scrollTo(0, y);
        return document.documentElement.scrollHeight;
      }, top);
      if (top > height) top = -600;
      await this.page.waitForTimeout(100);
    }
  }

  /**
   * Tries an operation out.
   * @param {(example: object) => object} [edit] makes the body from the example of the page
   * @param {{ example?: string, parameters?: Record<string, string> }} [choices] `example`: name of the example body, default: the first; `parameters`: values
   *   to fill in, the others keep those of the page
   * @returns {Promise<{ status: string, body: string }>} the response as the page shows it
   */
  async execute(tag, operationId, edit, { example, parameters = {} } = {}) {
    const block = this.operation(tag, operationId);
    await this.reveal(block);
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    for (const [name, value] of Object.entries(parameters)) {
      const field = block.locator(`tr[data-param-name="${name}"]`).locator('input, select');
      if (await field.evaluate(({ tagName }) => tagName === 'SELECT')) await field.selectOption(value);
      else await field.fill(value);
    }
    if (example)
      await block
        .locator('.opblock-section-request-body select.examples-select-element')
        .selectOption(example);
    if (edit) {
      const editor = block.locator('textarea.body-param__text');
      await editor.fill(JSON.stringify(edit(JSON.parse(await editor.inputValue())), null, 2));
    }
    await block.getByRole('button', { name: 'Execute' }).click();
    const response = block.locator('.live-responses-table .response');
    await response.waitFor();
    return {
      status: (await response.locator('.response-col_status').innerText()).trim().split(/\s/)[0],
      body: await response.locator('.response-col_description').innerText(),
    };
  }

  /** The JSON of the last response of the operation, as the page shows it. */
  async shown(tag, operationId) {
    const response = this.operation(tag, operationId).locator('.live-responses-table .response');
    return JSON.parse(await response.locator('code.language-json').first().textContent());
  }

  /**
   * Follows the link that the page shows in place of a file.
   * @returns {Promise<{ name: string, bytes: Buffer }>} the downloaded file
   */
  async download(tag, operationId) {
    const saved = this.page.waitForEvent('download');
    await this.operation(tag, operationId).locator('.live-responses-table a[download]').click();
    const file = await saved;
    return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
  }
}
