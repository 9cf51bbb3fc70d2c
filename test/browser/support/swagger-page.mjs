// What a person does on the page of Swagger UI.

export class SwaggerPage {
  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.page = page;
  }

  /** The operations on the page, by their ids. */
  async operationIds() {
    await this.page.locator('.opblock').first().waitFor();
    const ids = await this.page.locator('.opblock').evaluateAll((blocks) => blocks.map(({ id }) => id));
    // operations-<tag>-<operation id>
    return ids.map((id) => id.split('-').at(-1));
  }

  async isAuthorised() {
    const button = this.page.locator('.btn.authorize');
    await button.waitFor();
    return button.evaluate(({ classList }) => classList.contains('locked'));
  }

  /** With a token, pasted. */
  async authorise(token) {
    const dialog = await this.#dialog();
    const bearer = dialog.locator('.auth-container').filter({ hasText: 'bearer' });
    await bearer.locator('input').fill(token);
    await bearer.getByRole('button', { name: 'Apply credentials' }).click();
    await this.#close(dialog);
  }

  /** Forgets the token, here; the sign-in page does not hear of it. */
  async unauthorise() {
    const dialog = await this.#dialog();
    for (const button of await dialog.getByRole('button', { name: 'Remove authorization' }).all())
      await button.click();
    await this.#close(dialog);
  }

  /**
   * By the sign-in page.
   * @param {(popup: import('playwright-core').Page) => Promise<void>} fillIn what the person does there
   * @returns {Promise<Record<string, string>>} the tokens that came of it
   */
  async signIn(fillIn) {
    const dialog = await this.#dialog();
    const container = dialog.locator('.auth-container').filter({ hasText: 'OAuth2, authorizationCode' });
    const tokens = this.page.waitForResponse((response) => response.url().endsWith('/oidc/token'));
    const opened = this.page.waitForEvent('popup');
    await container.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
    const popup = await opened;
    const closed = popup.waitForEvent('close');
    await fillIn(popup);
    await closed;
    const answer = await (await tokens).json();
    await container.getByRole('button', { name: 'Remove authorization' }).waitFor();
    await this.#close(dialog);
    return answer;
  }

  async #dialog() {
    await this.page.locator('.btn.authorize').click();
    return this.page.locator('.dialog-ux');
  }

  async #close(dialog) {
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.waitFor({ state: 'detached' });
  }

  /**
   * Tries an operation out.
   * @param {(example: object) => object} [edit] makes the body to send of the one the page offers
   * @returns {Promise<{ status: string, body: string }>} what the page shows as the server's answer
   */
  async execute(tag, operationId, edit) {
    const block = this.page.locator(`#operations-${tag}-${operationId}`);
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    if (edit) {
      const editor = block.locator('textarea.body-param__text');
      await editor.fill(JSON.stringify(edit(JSON.parse(await editor.inputValue())), null, 2));
    }
    await block.getByRole('button', { name: 'Execute' }).click();
    const answer = block.locator('.live-responses-table .response');
    await answer.waitFor();
    return {
      status: (await answer.locator('.response-col_status').innerText()).trim().split(/\s/)[0],
      body: await answer.locator('.response-col_description').innerText(),
    };
  }
}
